"""The laboratory of phenes: experiments of the paper, and measurements beside other libraries."""
