# tools: pay, put
class Purse:
    def __init__(self, left):
        self.left = left
        self.log = []

    def spend(self, to, amount):
        if amount > self.left:
            self.log.append((to, "refused"))
            return False
        pay(to=to, amount=amount)
        self.left -= amount
        self.log.append((to, amount))
        return True

purse = Purse(100)
print([purse.spend("ada", 40), purse.spend("bob", 70), purse.spend("cyd", 60)])
put(name="left", value=purse.left)
print(purse.log)
