# tools: pay, send
try:
    pay(to="ada", amount=5000)
except Exception:
    send(to="ada", text="it was too much")
print("told")
