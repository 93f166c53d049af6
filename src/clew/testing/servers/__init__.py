"""Local servers that speak the providers' formats, for tests with the official clients."""
