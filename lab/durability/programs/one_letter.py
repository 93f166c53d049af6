# tools: send
number = send(to="ada", text="hello")
print(number)
