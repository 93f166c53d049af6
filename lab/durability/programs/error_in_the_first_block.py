# tools: pay, count, send
pay(to="ada", amount=10)
pay(to="ada", amount=9999)
send(to="ada", text="never")
# next block
print(count(kind="payments"), count(kind="letters"))
send(to="ada", text="after all")
