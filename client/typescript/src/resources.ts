import { Files, volumeFiles } from "./files.js";
import type {
  CollectedGarbage,
  CreatedKey,
  CreateSandboxRequest,
  CreateVolumeRequest,
  Key,
  KeyList,
  MakeKeyRequest,
  PutSecretRequest,
  Secret,
  SecretKeyRotation,
  SecretList,
  Snapshot,
  SnapshotDiff,
  SnapshotList,
  UpdateKeyRequest,
  Volume,
  VolumeList,
} from "./generated/models.js";
import type { CallOptions } from "./options.js";
import { apiPath, withQuery } from "./path.js";
import { createSandbox, type Sandbox } from "./sandbox.js";
import type { Transport } from "./transport.js";

/** For creation, removal and garbage collection, which may involve many files. */
const SLOW_MS = 600_000;

/** Snapshots of a server. `sandbox.snapshot` takes one. */
export class Snapshots {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  async list(call: CallOptions = {}): Promise<Snapshot[]> {
    return (await this.transport.get<SnapshotList>(apiPath("snapshots"), call)).snapshots;
  }

  async get(id: string, call: CallOptions = {}): Promise<Snapshot> {
    return this.transport.get(apiPath("snapshots", id), call);
  }

  /** Creates a sandbox with the files of a snapshot; the processes of a snapshot of memory continue. */
  async restore(id: string, spec: CreateSandboxRequest = {}, call: CallOptions = {}): Promise<Sandbox> {
    return createSandbox(this.transport, { ...spec, image: `snapshot:${id}` }, call);
  }

  async diff(from: string, to: string, call: CallOptions = {}): Promise<SnapshotDiff> {
    return this.transport.get(withQuery(apiPath("snapshots", from, "diff"), { to }), call);
  }

  /** Removes a snapshot. `collectGarbage` frees its space. */
  async remove(id: string, call: CallOptions = {}): Promise<void> {
    await this.transport.delete(apiPath("snapshots", id), { ...call, timeoutMs: SLOW_MS });
  }

  /** Frees data that no snapshot references. Requires a key with scope `admin`. */
  async collectGarbage(call: CallOptions = {}): Promise<CollectedGarbage> {
    return this.transport.post(apiPath("gc", "snapshots"), {}, { ...call, timeoutMs: SLOW_MS });
  }
}

/** Volumes of a server. To mount one, name it in the spec of a sandbox. */
export class Volumes {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  async create(name: string, options: Omit<CreateVolumeRequest, "name"> & CallOptions = {}): Promise<Volume> {
    const { signal, ...fields } = options;
    return this.transport.post(apiPath("volumes"), { name, ...fields }, { timeoutMs: SLOW_MS, signal });
  }

  async list(call: CallOptions = {}): Promise<Volume[]> {
    return (await this.transport.get<VolumeList>(apiPath("volumes"), call)).volumes;
  }

  async get(name: string, call: CallOptions = {}): Promise<Volume> {
    return this.transport.get(apiPath("volumes", name), call);
  }

  /** Removes a volume with its files. Fails while a sandbox mounts it. */
  async remove(name: string, call: CallOptions = {}): Promise<void> {
    await this.transport.delete(apiPath("volumes", name), { ...call, timeoutMs: SLOW_MS });
  }

  /** Returns the files of a volume. Moves, patterns, modes, batches and watches need a sandbox that mounts it. */
  files(name: string): Files {
    return volumeFiles(this.transport, name);
  }
}

/** Secrets of a server. No method returns a value. Storing and removing requires a key with scope `admin`. */
export class Secrets {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Lists the secrets that the key may use; all of them with scope `admin`. */
  async list(call: CallOptions = {}): Promise<Secret[]> {
    return (await this.transport.get<SecretList>(apiPath("secrets"), call)).secrets;
  }

  async get(name: string, call: CallOptions = {}): Promise<Secret> {
    return this.transport.get(apiPath("secrets", name), call);
  }

  /** Stores a secret, or replaces it. */
  async put(name: string, secret: PutSecretRequest, call: CallOptions = {}): Promise<Secret> {
    return this.transport.send("PUT", apiPath("secrets", name), secret, call);
  }

  /** Removes a secret. Sandboxes that use it keep running without the value. */
  async remove(name: string, call: CallOptions = {}): Promise<void> {
    await this.transport.delete(apiPath("secrets", name), call);
  }

  /** Encrypts all secrets of the server with another key. */
  async rotateKey(call: CallOptions = {}): Promise<SecretKeyRotation> {
    return this.transport.post(apiPath("secret-key", "rotate"), {}, { ...call, timeoutMs: SLOW_MS });
  }
}

/** API keys of a server. Requires a key with scope `admin`. */
export class ApiKeys {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  async list(call: CallOptions = {}): Promise<Key[]> {
    return (await this.transport.get<KeyList>(apiPath("keys"), call)).keys;
  }

  /** Creates a key. Only this response contains it. */
  async create(key: MakeKeyRequest, call: CallOptions = {}): Promise<CreatedKey> {
    return this.transport.post(apiPath("keys"), key, call);
  }

  /** Changes the policy of a key. */
  async update(name: string, policy: UpdateKeyRequest, call: CallOptions = {}): Promise<Key> {
    return this.transport.send("PATCH", apiPath("keys", name), policy, call);
  }

  /** Revokes a key at once. */
  async revoke(name: string, call: CallOptions = {}): Promise<void> {
    await this.transport.delete(apiPath("keys", name), call);
  }
}
