"""Answers what the reference makes of a message: one JSON object a line in, one a line out, in any order.

Arguments: the path of protoc, and the folder of metadata.proto. A question is {"id", "data": base64} with
  "protoc": "encode" (text in, binary out) | "decode" (binary in, text out), of a MetaData; or, for Python itself,
  "type": "MetaData" and so on, "from": "binary" | "text" | "anyText" | "json", "to": "binary" | "text" | "utf8" | "json".
The answer is {"id"} with "answer" in base64, or with "refusal", or, when something is wrong here, with "fault".
"""

import base64
import json
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format

# A stray end of group, or a zero tag, is a mere warning to ParseFromString; to `protoc --decode` it is an error.
warnings.simplefilter('error')

PROTOC, FOLDER = sys.argv[1:]


def protoc(option, data=b''):
    return subprocess.run(
        [PROTOC, '-I' + FOLDER, option, 'metadata.proto'], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


pool = descriptor_pool.DescriptorPool()
for file in descriptor_pb2.FileDescriptorSet.FromString(protoc('--descriptor_set_out=/dev/stdout').stdout).file:
    pool.Add(file)
factory = message_factory.MessageFactory(pool)

READ = {
    'binary': lambda message, data: message.ParseFromString(data),
    'text': lambda message, data: text_format.Parse(data, message),
    'anyText': lambda message, data: text_format.Parse(
        data, message, allow_unknown_extension=True, allow_unknown_field=True
    ),
    'json': lambda message, data: json_format.Parse(data, message),
}
WRITE = {
    'binary': lambda message: message.SerializePartialToString(),
    'text': lambda message: text_format.MessageToString(message).encode(),
    'utf8': lambda message: text_format.MessageToString(message, as_utf8=True).encode(),
    'json': lambda message: json_format.MessageToJson(message).encode(),
}


def ask_protoc(question, data):
    run = protoc('--' + question['protoc'] + '=external_updater.MetaData', data)
    if run.returncode == 0:
        return {'answer': base64.b64encode(run.stdout).decode()}
    # Any other complaint is of the test, or of the machine, and no verdict.
    verdict = run.returncode == 1 and run.stderr.endswith(b'Failed to parse input.\n')
    return {'refusal' if verdict else 'fault': run.stderr.decode(errors='replace')}


def ask_python(question, data):
    message = factory.GetPrototype(pool.FindMessageTypeByName('external_updater.' + question['type']))()
    try:
        READ[question['from']](message, data)
        return {'answer': base64.b64encode(WRITE[question['to']](message)).decode()}
    except Exception as error:  # each way of refusing is a verdict
        return {'refusal': type(error).__name__ + ': ' + str(error)}


printing = threading.Lock()


def reply(ask, question):
    try:
        answer = ask(question, base64.b64decode(question['data']))
    except Exception as error:
        answer = {'fault': repr(error)}
    with printing:
        print(json.dumps({'id': question['id'], **answer}), flush=True)


with ThreadPoolExecutor(os.cpu_count() + 1) as threads:
    for line in sys.stdin:
        question = json.loads(line)
        if 'protoc' in question:
            threads.submit(reply, ask_protoc, question)
        else:
            reply(ask_python, question)
