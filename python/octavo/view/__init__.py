"""The page that `octavo view` shows in a browser, and the server behind it: tiles of values made by the compiled kernels,
one request at a time, each reading only the levels and domains that it shows."""
