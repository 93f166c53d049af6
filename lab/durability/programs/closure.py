# tools: send
def sender(greeting):
    sent = []

    def send_one(name):
        sent.append(send(to=name, text=f"{greeting} {name}"))
        return sent

    return send_one

hello, bye = sender("hello"), sender("bye")
hello("ada")
bye("bob")
print(hello("cyd"), bye("dan"))
