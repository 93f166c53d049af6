# tools: pay
amount = 800
while True:
    try:
        left = pay(to="cyd", amount=amount)
        break
    except Exception:
        amount //= 3
print(amount, left)
