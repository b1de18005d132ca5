"""The talk of a client in Python with the test: the settings as an argument, then a line of JSON for each step."""
import json
import sys

SETTING = json.loads(sys.argv[1])


def talk(url, steps):
    print(json.dumps({"url": url, "steps": list(steps)}), flush=True)
    for line in sys.stdin:
        step = json.loads(line)
        try:
            answer = {"result": steps[step["name"]](step.get("argument"))}
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


def tokens_of(token):
    return {"accessToken": token["access_token"], "refreshToken": token["refresh_token"]}
