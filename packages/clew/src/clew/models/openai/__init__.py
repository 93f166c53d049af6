"""OpenAI's APIs, and servers that speak them."""
