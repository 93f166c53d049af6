# tools: count, send
while count(kind="letters") < 3:
    send(to="ada", text="again")
print(count(kind="letters"))
