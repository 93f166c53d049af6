# tools: send, put
send(to="ada", text="the same")
send(to="ada", text="the same")
put(name="x", value=1)
put(name="x", value=2)
put(name="x", value=1)
print("ok")
