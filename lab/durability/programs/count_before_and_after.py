# tools: count, pay
before = count(kind="payments")
pay(to="ada", amount=1)
pay(to="ada", amount=1)
after = count(kind="payments")
print(after - before)
