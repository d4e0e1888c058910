"""Pictures of the engineering problems."""
