# tools: page, put
def careful(name):
    try:
        return page(name=name)["words"]
    except Exception as error:
        raise KeyError(name) from error

try:
    careful("nowhere")
except KeyError as error:
    put(name="missing", value=str(error.args[0]))
    print("missing", error.args[0])
