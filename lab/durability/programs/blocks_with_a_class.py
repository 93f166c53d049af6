# tools: reserve, put
class Row:
    def __init__(self):
        self.taken = []

    def take(self, seat):
        reserve(seat=seat)
        self.taken.append(seat)
        return self

row = Row()
row.take(7)
# next block
row.take(8).take(9)
print(row.taken)
# next block
put(name="row", value=row.taken)
print(sum(row.taken))
