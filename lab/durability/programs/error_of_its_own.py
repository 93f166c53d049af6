# tools: send, put
sent = [send(to="ada", text="first")]
sent.append(1 // 0)
# next block
put(name="sent", value=sent)
print(sent)
