"""From evidence to what users are told: the theta, the claim, the verdict, and the `Result`."""
