# tools: page, reserve, send
try:
    try:
        page(name="nowhere")
    except Exception:
        reserve(seat=99)
except Exception:
    send(to="desk", text="neither page nor seat")
print("done")
