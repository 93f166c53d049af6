# tools: pay
paid = []
try:
    for amount in (30, 60, 90, 120, 10):
        pay(to="bob", amount=amount)
        paid.append(amount)
except Exception:
    print("stopped after", paid)
else:
    print("all", paid)
