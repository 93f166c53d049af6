# tools: pay, put
try:
    pay(to="ada", amount=40)
    pay(to="ada", amount=4000)
except Exception:
    print("failed")
finally:
    put(name="state", value="closed")
