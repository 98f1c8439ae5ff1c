// The quick start of @computesdk/e2b, and its file operations.
import assert from 'node:assert/strict'
import { compute } from 'computesdk'
import { e2b } from '@computesdk/e2b'

compute.setConfig({
  provider: e2b({ apiKey: process.env.E2B_API_KEY }),
})

const sandbox = await compute.sandbox.create()

const result = await sandbox.runCommand(`python - <<'PY'
import pandas as pd
import numpy as np

data = {'A': [1, 2, 3], 'B': [4, 5, 6]}
df = pd.DataFrame(data)
print(df)
print(f"Sum: {df.sum().sum()}")
PY`)

console.log(result.stdout)
assert.match(result.stdout, /Sum: 21/, result.stderr)

await sandbox.filesystem.mkdir('/tmp/data')
await sandbox.filesystem.writeFile('/tmp/data/hello.py', 'print("Hello World")')
assert.equal(await sandbox.filesystem.readFile('/tmp/data/hello.py'), 'print("Hello World")')
assert.equal((await sandbox.runCommand('python /tmp/data/hello.py')).stdout.trim(), 'Hello World')
const entries = await sandbox.filesystem.readdir('/tmp/data')
assert.deepEqual(entries.map((one) => one.name), ['hello.py'])
assert.equal(await sandbox.filesystem.exists('/tmp/data/hello.py'), true)
await sandbox.filesystem.remove('/tmp/data/hello.py')
assert.equal(await sandbox.filesystem.exists('/tmp/data/hello.py'), false)
const failed = await sandbox.runCommand('exit 3')
assert.equal(failed.exitCode, 3)
await sandbox.destroy()
