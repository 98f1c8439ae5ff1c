// Made by scripts/models.mjs from the OpenAPI document of the server. Do not edit.

export type ApiVersion = "v1" | "v2";

export interface AuditEntry {
  /** end of the request */
  at: string;
  /** name of the key, or kind of token */
  key: string;
  /** operation */
  action: string;
  /** sandbox id */
  sandbox?: string;
  /** whether the response contains a token */
  token?: boolean;
  /** ok, or the error code */
  outcome: string;
  /** HTTP status */
  status: number;
  /** id of the request in the log */
  requestId: string;
  /** address of the client */
  remote: string;
  /** requests with an invalid credential since the entry before, too many to have entries of their own */
  invalidCredentials?: number;
}

export interface AuditList {
  /** newest first */
  entries: AuditEntry[];
  /** cursor of the next page */
  next?: string;
}

export interface Base64Content {
  /** bytes */
  base64: string;
}

export interface BatchFilesRequest {
  /** the operations */
  operations: FileOperation[];
  /** whether to continue after a failure; default false */
  keepGoing?: boolean;
}

export interface BatchFilesResponse {
  /** one per attempted operation */
  results: FileOperationResult[];
  /** number of failed operations */
  failed: number;
  /** number of operations not attempted */
  left: number;
}

export interface BuildImageRequest {
  /** build recipe, as of a template; start, ready, cpu and memoryMb have no effect */
  recipe?: Recipe;
  /** image to build without a recipe: base, python, node, java, full */
  ready?: string;
  /** provider that runs the steps */
  provider?: string;
  /** network of the steps; default none */
  network?: "none" | "filtered" | "bridge" | "host";
  /** replace an existing image; default false */
  replace?: boolean;
}

export interface BuildTemplateRequest {
  /** build recipe */
  recipe: Recipe;
  /** provider that runs the build */
  provider?: string;
  /** network of the steps; default: the provider's default */
  network?: "bridge" | "host";
}

export type CapabilityName = "attaching" | "terminals" | "watching" | "port-dialing" | "usage-reporting" | "pausing" | "renewing" | "snapshotting" | "forking" | "memory-forking" | "volumes";

export interface ChangeModeRequest {
  /** path in the sandbox */
  path: string;
  /** permission bits, such as 0755 */
  mode: string;
}

export interface ChosenProvider {
  /** name of the provider */
  provider: string;
  /** its isolation */
  isolation: string;
  /** whether a sandbox of the warm pool is ready */
  warm: boolean;
  /** why it is chosen */
  reason: string;
}

export interface CollectedGarbage {
  /** number of packs removed or rewritten */
  packs: number;
  /** number of bytes freed */
  bytes: number;
}

export type CommandMode = "shell" | "argv";

export interface CommitSandboxRequest {
  /** name of the new image */
  image: string;
  /** replace an existing image; default false */
  replace?: boolean;
}

export interface ConsideredProvider {
  /** name of the provider */
  name: string;
  /** its type */
  type?: string;
  /** its isolation, if it is known */
  isolation?: string;
  /** whether the sandbox would be created by it */
  chosen: boolean;
  /** whether it could create the sandbox, now or next */
  eligible: boolean;
  /** why it is not chosen; completes a sentence that starts with its name */
  reasons: string[];
  /** how to make it eligible */
  fix?: string;
}

/** bytes: a string, which is encoded in UTF-8, or an object with base64 */
export type Content = string | Base64Content;

export interface CreateSandboxRequest {
  /** name of the sandbox; unique until the sandbox is destroyed */
  name?: string;
  /** name of a provider, or auto */
  provider?: string;
  /** name of a template; alternative to image */
  template?: string;
  /** fail instead of falling back to another provider */
  strictNoFallback?: boolean;
  /** the same in the spelling of the local_microvm contract */
  strict_no_fallback?: boolean;
  /** only providers in this region */
  region?: string;
  /** idle time after which the sandbox ends */
  idleTimeoutSeconds?: number;
  /** version of the spec; default v2 */
  apiVersion?: ApiVersion;
  /** sandbox id; generated if absent */
  id?: string;
  /** use id instead @deprecated */
  runtimeId?: string;
  /** name of an image, or snapshot:ID */
  image?: string;
  /** environment variables */
  env?: Record<string, string>;
  /** variables whose values are never returned; responses contain their names */
  secretEnv?: Record<string, string>;
  /** default working directory of commands */
  cwd?: string;
  /** default user of commands */
  user?: string;
  /** folder of the host to use as workspace; requires scope admin */
  workspacePath?: string;
  /** path of the workspace; default /workspace */
  workspaceMount?: string;
  /** mounts */
  volumes?: VolumeMountRequest[];
  /** files to create, by path */
  seedFiles?: Record<string, Content>;
  /** command that must succeed before the sandbox is ready */
  init?: InitCommand;
  /** time for the start, including init */
  startupTimeoutMs?: number;
  /** use startupTimeoutMs instead @deprecated */
  startupTimeout?: number;
  /** at most 64 tags to attach to the sandbox */
  tags?: Record<string, string>;
  /** lifetime; default: set by the operator */
  ttlSeconds?: number;
  /** time after which the sandbox ends if no server is connected to it */
  lingerSeconds?: number;
  /** whether requests resume it; default false */
  autoResume?: boolean;
  /** what happens after idleTimeoutSeconds */
  whenIdle?: ExpiryAction;
  /** what happens after ttlSeconds */
  whenExpired?: ExpiryAction;
  /** limits of the sandbox */
  resources?: ResourceRequest;
  /** network settings */
  network?: NetworkRequest;
  /** purpose of the sandbox */
  containerType?: Workload;
  /** the server that a sandbox of containerType mcp_server hosts */
  mcp?: McpServer;
  /** number of GPUs */
  gpus?: number;
  /** properties that the provider must have */
  require?: Requirements;
  /** apiVersion v1 only; use network.mode @deprecated */
  networkMode?: NetworkMode;
  /** apiVersion v1 only; use resources @deprecated */
  resourceLimits?: ResourceLimitsV1;
}

export interface CreateSessionRequest {
  /** an API key */
  key?: string;
  /** a sandbox token; alternative to key */
  token?: string;
}

export interface CreateSnapshotRequest {
  /** tags to attach to the snapshot */
  tags?: Record<string, string>;
  /** filesystem (default): processes start again; memory: they continue in every sandbox created from it, where the provider lists it in snapshots */
  kind?: "filesystem" | "memory";
  /** whether to store the memory of a sandbox that has secret variables; default false */
  allowSecrets?: boolean;
  /** everything that the sandbox wrote, or a directory; default everything, unless path, include or exclude is given */
  scope?: "everything" | "folder";
  /** the directory; default the workspace */
  path?: string;
  /** patterns of paths to include */
  include?: string[];
  /** patterns of paths to exclude */
  exclude?: string[];
}

export interface CreateVolumeRequest {
  /** letters, digits, . _ and -, at most 128 */
  name: string;
  /** provider that stores it */
  provider?: string;
}

export interface CreatedKey {
  /** name of the key in the logs */
  name: string;
  /** scope of the key */
  scope: KeyScope;
  /** whether sandboxes created with the key never fall back to another provider; default false */
  strictNoFallback?: boolean;
  /** creation time */
  createdAt: string;
  /** time of last use, to the minute */
  lastUsedAt?: string;
  /** the secret of the key */
  key: string;
}

export interface CreatedSnapshot {
  /** snapshot id; snapshot:ID can be used as an image */
  id: string;
  /** creation time */
  createdAt: string;
  /** sandbox that it was taken from */
  sandbox: string;
  /** provider of the sandbox */
  provider: string;
  /** version of Isola that created it */
  runtime: string;
  /** CPU architecture */
  architecture: string;
  /** filesystem: processes start again; memory: they continue, at the same provider */
  kind: string;
  /** tags set by the client */
  tags: Record<string, string>;
  /** the previous snapshot that it is based on */
  parent?: string;
  /** image of the sandbox */
  image?: string;
  /** directory in the sandbox */
  path: string;
  /** patterns of included paths; empty for all */
  include: string[];
  /** patterns of excluded paths */
  exclude: string[];
  /** everything that the sandbox wrote, or a directory */
  scope: "everything" | "folder";
  /** digest of the image that its changes are relative to */
  imageDigest?: string;
  /** directories that it contains completely, with scope everything */
  folders?: string[];
  /** number of files, directories and links */
  files: number;
  /** total size of the content */
  bytes: number;
  /** size of content that was new to the store */
  newBytes: number;
  /** size of the new content in the store */
  storedBytes: number;
  /** SHA-256 of the list of files */
  checksum: string;
  /** how long commands were suspended */
  heldMs: number;
  /** whether only changed files were read */
  incremental: boolean;
  /** bytes read from the sandbox */
  readBytes: number;
}

export interface Egress {
  /** what happens to names that no rule matches */
  default?: EgressAction;
  /** the most specific matching rule decides */
  rules?: EgressRule[];
  /** lists of the operator */
  presets?: string[];
  /** names of secrets by environment variable, which gets a placeholder */
  secrets?: Record<string, string>;
  /** hosts whose TLS is never opened */
  bypass?: string[];
  /** which connections are events; default denials */
  log?: EgressLog;
  /** limits of all connections together */
  limits?: EgressLimits;
}

export type EgressAction = "allow" | "deny";

export interface EgressConnection {
  /** name or address that was connected to */
  host: string;
  /** port */
  port: number;
  /** address of the host; empty if not connected yet */
  address: string;
  /** what allowed it */
  rule: string;
  /** bytes from the sandbox */
  sentBytes: number;
  /** bytes to the sandbox */
  receivedBytes: number;
  /** when it was opened */
  openedAt: string;
  /** when it ended */
  closedAt?: string;
}

export interface EgressDenial {
  /** when */
  at: string;
  /** false if it was allowed, but the host was not reached */
  denied: boolean;
  /** name or address */
  host: string;
  /** port */
  port: number;
  /** method and path of a denied HTTP request */
  request?: string;
  /** why */
  reason: string;
  /** the rule that would allow it */
  remedy?: string;
}

export interface EgressHttpRule {
  /** allowed methods; default all */
  methods?: string[];
  /** allowed path; * stands for any characters */
  path?: string;
  /** headers that a request must have */
  headers?: Record<string, string>;
  /** headers that are added or replaced; may contain ${secret.NAME}; *** for keys with scope read */
  setHeaders?: Record<string, string>;
}

export interface EgressLimits {
  /** open at once */
  connections?: number;
  /** new in a minute */
  connectionsPerMinute?: number;
  /** both directions */
  bytesPerSecond?: number;
  /** in its whole life */
  bytes?: number;
}

export type EgressLog = "denials" | "connections";

export type EgressPort = number | string;

export interface EgressPresets {
  /** rules by preset */
  presets: Record<string, EgressRule[]>;
}

export interface EgressReport {
  /** the settings of the sandbox */
  settings: Egress;
  /** the rules that apply, with those of presets and domains */
  rules: EgressRule[];
  /** what happens to names that no rule matches */
  default: EgressAction;
  /** whether connections to every port are passed on; otherwise only to ports that rules name and to usual ones */
  everyPort: boolean;
  /** since the server is attached */
  totalConnections: number;
  /** since the server is attached */
  totalDenials: number;
  /** bytes from the sandbox */
  sentBytes: number;
  /** bytes to the sandbox */
  receivedBytes: number;
  /** open connections */
  connections: EgressConnection[];
  /** ended, latest first */
  recentConnections: EgressConnection[];
  /** denied, latest first */
  recentDenials: EgressDenial[];
}

export interface EgressRequest {
  /** what happens to names that no rule matches */
  default?: EgressAction;
  /** the most specific matching rule decides */
  rules?: EgressRuleOrHost[];
  /** lists of the operator */
  presets?: string[];
  /** names of secrets by environment variable, which gets a placeholder */
  secrets?: Record<string, string>;
  /** hosts whose TLS is never opened */
  bypass?: string[];
  /** which connections are events; default denials */
  log?: EgressLog;
  /** limits of all connections together */
  limits?: EgressLimits;
}

export interface EgressRule {
  /** destination that is allowed */
  allow?: string;
  /** destination that is denied, instead of allow */
  deny?: string;
  /** ports or ranges; default all */
  ports?: EgressPort[];
  /** the only allowed HTTP requests */
  http?: EgressHttpRule[];
}

export type EgressRuleOrHost = string | EgressRule;

export type EventType = "spawn" | "ready" | "stateChange" | "resourceWarning" | "error" | "terminate" | "snapshotProgress" | "snapshot" | "snapshotFailed" | "quarantine" | "egressDenied" | "egressConnection";

export interface ExecRequest {
  /** a command line for /bin/sh -c, or with mode argv a program; alternative to argv */
  command?: string;
  /** how command runs: shell, the default, or argv, without a shell */
  mode?: CommandMode;
  /** arguments of command: in mode shell quoted and appended to the command line, in mode argv passed literally */
  args?: string[];
  /** a program and its arguments, without a shell; alternative to command; beside command, an empty list counts as absent */
  argv?: string[];
  /** variables added to the environment of the sandbox */
  env?: Record<string, string>;
  /** working directory */
  cwd?: string;
  /** user that runs the command */
  user?: string;
  /** timeout after which the process tree is killed */
  timeoutMs?: number;
  /** a tag chosen by the client */
  tag?: string;
  /** content of stdin */
  stdin?: Content;
  /** bytes retained per channel, half from the start and half from the end; default 1 MiB */
  outputLimit?: number;
  /** encoding of stdout and stderr; default utf8 */
  encoding?: OutputEncoding;
}

export interface ExecResult {
  /** output in the given encoding */
  stdout: string;
  /** output in the given encoding */
  stderr: string;
  /** encoding of stdout and stderr; with utf8, invalid bytes become U+FFFD */
  encoding: OutputEncoding;
  /** exit code as reported by a shell */
  exitCode: number;
  /** signal that ended the command */
  signal?: string;
  /** how the command ended */
  exit: Exit;
  /** the command for display */
  command: string;
  /** run time as measured in the sandbox */
  durationMs: number;
  /** whether timeoutMs was exceeded */
  timedOut: boolean;
  /** whether output was omitted */
  truncated: boolean;
  /** the reason: outputLimit, or the server's memory limit for the output of all requests */
  truncatedBy?: "outputLimit" | "serverMemory";
  /** total number of bytes written */
  stdoutBytes: number;
  /** total number of bytes written */
  stderrBytes: number;
  /** limits of the sandbox that the command reached */
  limitsMet: string[];
}

export interface Execution {
  /** id, unique within the sandbox */
  id: string;
  /** process id inside the sandbox */
  pid: number;
  /** tag chosen by the client */
  tag?: string;
  /** program and arguments */
  argv: string[];
  /** working directory */
  cwd?: string;
  /** user that runs the command */
  user?: string;
  /** start time */
  startedAt: string;
  /** whether it is still running */
  running: boolean;
  /** offset of the oldest retained output */
  firstOffset: number;
  /** current end offset of the output */
  endOffset: number;
  /** terminal size, if it has a terminal */
  terminal?: TerminalSize;
  /** how the command ended */
  exit?: Exit;
}

export interface ExecutionList {
  /** oldest first */
  executions: Execution[];
}

export interface Exit {
  /** how the command ended */
  kind: ExitKind;
  /** exit code, if it exited */
  code?: number;
  /** name of the signal, if one ended it */
  signal?: string;
  /** number of the signal */
  number?: number;
  /** the timeout, if it was exceeded */
  afterMs?: number;
  /** why the result is unknown, if it was lost */
  why?: string;
}

export type ExitKind = "exited" | "signaled" | "timedOut" | "outOfMemory" | "lost";

export type ExpiryAction = "destroy" | "pause" | "stop" | "snapshot";

export interface FileInfo {
  /** path for further requests */
  path: string;
  /** last segment of the path; empty for the root of a sandbox */
  name: string;
  /** type of the file */
  type: FileType;
  /** permission bits, such as 0644 */
  mode: string;
  /** size in bytes */
  size: number;
  /** user id of the owner */
  uid: number;
  /** group id */
  gid: number;
  /** name of the owner in the sandbox */
  owner: string;
  /** name of the group in the sandbox */
  group: string;
  /** time of the last modification */
  modifiedAt: string;
  /** target of a symbolic link */
  linkTarget?: string;
}

export interface FileList {
  /** the entries */
  entries: FileInfo[];
  /** whether there are more entries than limit */
  truncated: boolean;
}

export interface FileOperation {
  /** the operation */
  op: "chmod" | "mkdir" | "move" | "read" | "remove" | "stat" | "write";
  /** path in the sandbox */
  path: string;
  /** for write */
  content?: Content;
  /** for write, mkdir and chmod, such as 0644 */
  mode?: string;
  /** for write: the user whose permissions apply */
  user?: string;
  /** for move: the destination */
  to?: string;
  /** for move: replace an existing destination; default false */
  replace?: boolean;
  /** for remove: remove a directory tree; default false */
  recursive?: boolean;
}

export interface FileOperationResult {
  /** whether the operation succeeded */
  ok: boolean;
  /** result of write and stat */
  file?: FileInfo;
  /** result of read */
  content?: Content;
  /** the error of a failed operation */
  problem?: Problem;
}

export type FileType = "file" | "folder" | "link" | "other";

export interface Fork {
  /** the new sandbox */
  sandbox?: Sandbox;
  /** how it was created: mount if its files are shared, restore if they were copied, memory if its processes continue */
  by?: string;
  /** why the fork failed */
  error?: ForkError;
}

export interface ForkError {
  /** error code */
  code: string;
  /** what failed */
  detail: string;
  /** what to do */
  remedy: string;
}

export interface ForkList {
  /** the requested kind */
  kind: "filesystem" | "memory";
  /** one entry per requested fork */
  forks: Fork[];
}

export interface ForkSandboxRequest {
  /** number of forks; default 1 */
  count?: number;
  /** filesystem (default): processes start again; memory: they continue in every fork, where the provider lists it in forks */
  kind?: "filesystem" | "memory";
  /** whether to fork the memory of a sandbox that has secret variables; default false */
  allowSecrets?: boolean;
}

export interface HostResources {
  /** number of CPUs */
  processors: number;
  /** total memory in MB */
  memoryMb: number;
  /** memory available without swapping, in MB */
  freeMemoryMb?: number;
  /** size of the file system that holds sandboxes, in MB */
  diskMb?: number;
  /** free space for sandboxes, in MB */
  freeDiskMb?: number;
}

export interface Image {
  /** name to use in a spec */
  name: string;
  /** creation time */
  createdAt: string;
  /** source of the image */
  source: string;
  /** digest of the list of its files */
  digest: string;
  /** total size of its files in bytes */
  size: number;
  /** number of files, directories and links */
  files: number;
  /** such as amd64, or unknown */
  architecture: string;
  /** default user of commands */
  user?: string;
  /** default working directory of commands */
  workdir?: string;
  /** environment of commands; *** below scope use */
  env: Record<string, string>;
  /** warnings of the import */
  notes: string[];
}

export interface ImageList {
  /** by name */
  images: Image[];
}

export type InitCommand = string | InitCommandDetails;

export interface InitCommandDetails {
  /** shell: a command line; argv: a program with args; default shell */
  mode?: CommandMode;
  /** the command */
  command: string;
  /** arguments of the program */
  args?: string[];
  /** additional environment variables */
  env?: Record<string, string>;
  /** working directory */
  cwd?: string;
  /** user that runs the command */
  user?: string;
  /** whether it has a stdin */
  stdin?: boolean;
  /** timeout of the command */
  timeoutSeconds?: number;
  /** a tag chosen by the client */
  tag?: string;
}

export type Isolation = "process" | "container" | "kernel" | "vm";

export interface Key {
  /** name of the key in the logs */
  name: string;
  /** scope of the key */
  scope: KeyScope;
  /** whether sandboxes created with the key never fall back to another provider; default false */
  strictNoFallback?: boolean;
  /** creation time */
  createdAt: string;
  /** time of last use, to the minute */
  lastUsedAt?: string;
}

export interface KeyList {
  /** by name */
  keys: Key[];
}

export type KeyScope = "read" | "use" | "admin";

export type LimitKind = "cpu" | "memory" | "disk" | "file_descriptors" | "processes" | "threads" | "bandwidth" | "kernel_objects" | "timeout";

export interface MakeFolderRequest {
  /** path in the sandbox */
  path: string;
  /** permission bits; default 0755 */
  mode?: string;
}

export interface MakeKeyRequest {
  /** letters, digits, - and _ */
  name: string;
  /** scope of the key */
  scope: KeyScope;
  /** whether sandboxes created with the key never fall back to another provider; default false */
  strictNoFallback?: boolean;
}

export interface MakeLinkRequest {
  /** lifetime in seconds */
  ttlSeconds: number;
  /** host: PORT-ID.DOMAIN, a separate origin; path: a path of this server; default host, or path if the server is addressed by IP address */
  form?: "host" | "path";
}

export interface MakeTokenRequest {
  /** use: everything that scope use allows; read: what scope read allows; preview: access to ports */
  scope: TokenScope;
  /** lifetime in seconds */
  ttlSeconds: number;
}

export interface MakeVolumeFolderRequest {
  /** path in the volume */
  path: string;
  /** permission bits; default 0755 */
  mode?: string;
}

export interface McpServer {
  /** program that speaks MCP on standard input and output */
  command: string;
  /** arguments; *** below scope use */
  args?: string[];
  /** additional environment variables; *** below scope use */
  env?: Record<string, string>;
  /** working directory */
  cwd?: string;
  /** user that runs the program */
  user?: string;
  /** whether it is started again after it has exited; default always */
  restart?: RestartPolicy;
}

export interface MoveFileRequest {
  /** current path */
  from: string;
  /** new path */
  to: string;
  /** replace an existing file; default false */
  replace?: boolean;
}

export interface Network {
  /** host requires scope admin; default filtered if domains or egress are given */
  mode?: NetworkMode;
  /** the only domains that can be reached */
  allowDomains?: string[];
  /** domains that cannot be reached */
  blockDomains?: string[];
  /** the only ports that previews reach; default: all */
  exposePorts?: number[];
  /** rules of mode filtered */
  egress?: Egress;
}

export type NetworkMode = "none" | "filtered" | "bridge" | "host";

export interface NetworkRequest {
  /** host requires scope admin; default filtered if domains or egress are given */
  mode?: NetworkMode;
  /** the only domains that can be reached */
  allowDomains?: string[];
  /** domains that cannot be reached */
  blockDomains?: string[];
  /** the only ports that previews reach; default: all */
  exposePorts?: number[];
  /** false for mode none, true for bridge; must not contradict mode */
  enabled?: boolean;
  /** rules of mode filtered */
  egress?: EgressRequest;
}

export type OutputEncoding = "utf8" | "base64";

export interface Pool {
  /** target number of ready sandboxes */
  size: number;
  /** number of ready sandboxes */
  ready: number;
  /** number of requests served from the pool */
  hits: number;
  /** number of requests not served from the pool, by reason */
  misses: Record<string, number>;
}

export interface PortDetails {
  /** port on the loopback interface of the sandbox */
  port: number;
  /** whether the port is accessible without a credential */
  public: boolean;
  /** where the server serves the port */
  url: string;
  /** whether a process listens on the port; absent if that is unknown, because the sandbox is not running or its provider cannot connect to ports */
  listening?: boolean;
}

export interface PortLink {
  /** URL to open in a browser */
  url: string;
  /** expiry time */
  expiresAt: string;
}

export interface PortList {
  /** in ascending order */
  ports: PortStatus[];
}

export interface PortStatus {
  /** port on the loopback interface of the sandbox */
  port: number;
  /** whether the port is accessible without a credential */
  public: boolean;
  /** where the server serves the port */
  url: string;
}

export interface Problem {
  /** URN of the error: urn:isola:error:CODE */
  type: string;
  /** short description of the kind of error */
  title: string;
  /** HTTP status */
  status: number;
  /** what happened */
  detail: string;
  /** stable error code */
  code: string;
  /** which side must act */
  category: ProblemCategory;
  /** what to do next */
  remedy: string;
  /** id of the request in the server log */
  requestId: string;
  /** time of the error */
  timestamp: string;
  /** id of the affected sandbox */
  sandbox?: string;
  /** the command that the error concerns */
  command?: string;
  /** exit code of that command */
  exitCode?: number;
  /** signal that ended that command */
  signal?: string;
  /** end of the stderr of that command */
  stderr?: string;
  /** spec of the sandbox that could not be created; values of env, seedFiles and init are ***, secretEnv is a list of names */
  spec?: Record<string, unknown>;
  /** further details for programs */
  context?: Record<string, string>;
}

export type ProblemCategory = "CALLER" | "RESOURCE" | "PROVIDER" | "BUG";

export interface Provider {
  /** unique name of the provider instance */
  name: string;
  /** provider type */
  type?: string;
  /** region label, set by the operator, that requests can select */
  region?: string;
  /** health; degraded providers are selected after all healthy ones */
  status: ProviderHealth;
  /** why it is not healthy */
  reason?: string;
  /** what the operator should do */
  fix?: string;
  /** time of the last health check */
  lastCheck: string;
  /** number of sandboxes that are not destroyed */
  active: number;
  /** what further sandboxes can get: the rest of a configured capacity, or of the host that runs its sandboxes; a figure that is not known is absent */
  available: ProviderAvailability;
  /** resources reserved for its sandboxes */
  promised: ProviderCapacity;
  /** resources of the host that runs its sandboxes, if known */
  resources?: HostResources;
  /** isolation level */
  isolation?: Isolation;
  /** whether sandboxes run on the processors of the machine; false: software emulates them */
  accelerated?: boolean;
  /** one-sentence description */
  summary?: string;
  /** version of the specs it takes */
  apiVersion?: ApiVersion;
  /** supported capabilities */
  capabilities?: string[];
  /** supported kinds of forks */
  forks?: string[];
  /** supported kinds of snapshots */
  snapshots?: string[];
  /** limits that it enforces */
  enforcedLimits?: string[];
  /** supported network modes */
  networks?: string[];
  /** supported volume types */
  volumes?: string[];
  /** estimated startup time */
  startupMs?: number;
  /** how sandboxes are cleaned up */
  cleanup?: string;
  /** requirements on the host */
  requirements?: ProviderRequirement[];
}

export interface ProviderAvailability {
  /** memory in MB */
  memoryMb?: number;
  /** number of CPUs */
  cpu?: number;
}

export interface ProviderCapacity {
  /** memory in MB */
  memoryMb: number;
  /** number of CPUs */
  cpu: number;
}

export type ProviderHealth = "healthy" | "degraded" | "unhealthy";

export interface ProviderList {
  /** by name */
  providers: Provider[];
  /** the version of specs in responses */
  apiVersion: ApiVersion;
  /** the versions of specs in requests */
  apiVersions: ApiVersion[];
}

export interface ProviderRequirement {
  /** name of the requirement */
  name: string;
  /** whether the provider needs it */
  necessary: boolean;
  /** whether the host has it */
  present: boolean;
  /** what was found */
  detail: string;
  /** what the operator should do */
  fix: string;
}

export interface ProviderStatus {
  /** unique name of the provider instance */
  name: string;
  /** provider type */
  type?: string;
  /** region label, set by the operator, that requests can select */
  region?: string;
  /** health; degraded providers are selected after all healthy ones */
  status: ProviderHealth;
  /** why it is not healthy */
  reason?: string;
  /** what the operator should do */
  fix?: string;
  /** time of the last health check */
  lastCheck: string;
  /** number of sandboxes that are not destroyed */
  active: number;
  /** what further sandboxes can get: the rest of a configured capacity, or of the host that runs its sandboxes; a figure that is not known is absent */
  available: ProviderAvailability;
  /** resources reserved for its sandboxes */
  promised: ProviderCapacity;
  /** resources of the host that runs its sandboxes, if known */
  resources?: HostResources;
}

export interface ProviderStatusList {
  /** by name */
  providers: ProviderStatus[];
}

export interface PullImageRequest {
  /** name of the new image */
  name: string;
  /** oci:DIR[:TAG], docker-archive:FILE, debian:12, docker://HOST/... */
  source: string;
  /** replace an existing image; default false */
  replace?: boolean;
}

export interface PutSecretRequest {
  /** the value: printable ASCII, at most 64 KiB */
  value: string;
  /** the hosts that receive the value */
  hosts: string[];
  /** names of the API keys that may use it in a sandbox; without it, every key with scope use */
  keys?: string[];
}

export interface Recipe {
  /** an image */
  base?: string;
  /** a template, instead of base */
  template?: string;
  /** environment of the steps and of sandboxes */
  env?: Record<string, unknown>;
  /** packages of the distribution */
  packages?: string[];
  /** packages of Debian */
  apt?: string[];
  /** packages of Python */
  pip?: string[];
  /** packages of npm, installed globally */
  npm?: string[];
  /** user of the steps and of sandboxes */
  user?: string;
  /** working directory */
  workdir?: string;
  /** in this order */
  steps?: RecipeStep[];
  /** command that runs in the background of sandboxes */
  start?: string;
  /** command that is repeated until it succeeds, before a create request returns */
  ready?: string;
  /** CPU cores of sandboxes */
  cpu?: number;
  /** memory of sandboxes in MB */
  memoryMb?: number;
  /** use base instead @deprecated */
  image?: string;
  /** use memoryMb instead @deprecated */
  memory?: number;
}

export interface RecipeCopy {
  /** path or pattern in the archive */
  from: string;
  /** path in the image */
  to: string;
  /** owner of the copied files */
  owner?: string;
  /** permission bits of the copied files */
  mode?: string;
  /** SHA-256 of the uploaded archive */
  archive: string;
}

export interface RecipeStep {
  /** a command line */
  run?: string;
  /** files of an uploaded archive */
  copy?: RecipeCopy;
  /** environment of the following steps and of sandboxes */
  env?: Record<string, unknown>;
  /** packages of the distribution */
  packages?: string[];
  /** packages of Debian */
  apt?: string[];
  /** packages of Python */
  pip?: string[];
  /** packages of npm, installed globally */
  npm?: string[];
  /** working directory of the following steps */
  workdir?: string;
  /** user of the following steps, or of run */
  user?: string;
}

export interface RenewSandboxRequest {
  /** lifetime in seconds, from now */
  ttlSeconds: number;
}

export interface Requirements {
  /** the weakest isolation that is allowed */
  isolation?: Isolation;
  /** capabilities that the provider must have */
  capabilities?: CapabilityName[];
  /** limits that the provider must enforce */
  limits?: LimitKind[];
}

export interface ResourceLimits {
  /** CPU cores; may be fractional; default 1 */
  cpu?: number;
  /** memory in MB */
  memory?: number;
  /** disk in MB */
  disk?: number;
  /** open files per process */
  fileDescriptors?: number;
  /** processes started by commands, regardless of their threads */
  processes?: number;
  /** threads of all processes together */
  threads?: number;
  /** Mbit/s */
  networkBandwidth?: number;
  /** default timeout of a command */
  timeoutSeconds?: number;
}

export interface ResourceLimitsV1 {
  /** CPU cores */
  cpuCount?: number;
  /** memory in MB */
  memoryMB?: number;
  /** disk in MB */
  diskMB?: number;
  /** default timeout of a command */
  timeoutSeconds?: number;
}

export interface ResourceRequest {
  /** CPU cores; may be fractional; default 1 */
  cpu?: number;
  /** memory in MB */
  memory?: number;
  /** disk in MB */
  disk?: number;
  /** open files per process */
  fileDescriptors?: number;
  /** processes started by commands, regardless of their threads */
  processes?: number;
  /** threads of all processes together */
  threads?: number;
  /** Mbit/s */
  networkBandwidth?: number;
  /** default timeout of a command */
  timeoutSeconds?: number;
  /** use require.limits instead @deprecated */
  required?: LimitKind[];
}

export type RestartPolicy = "always" | "on_failure" | "never";

export interface Sandbox {
  /** sandbox id; valid as part of a host name */
  id: string;
  /** the same as id; not in lists @deprecated */
  runtimeId?: string;
  /** the same as provider; not in lists @deprecated */
  runtime?: string;
  /** name chosen by the client */
  name?: string;
  /** lifecycle state */
  state: SandboxState;
  /** provider that created it */
  provider: string;
  /** isolation level */
  isolation: Isolation;
  /** whether it came from the warm pool */
  warm: boolean;
  /** providers that were tried and failed */
  attempts: SandboxAttempt[];
  /** creation time */
  createdAt: string;
  /** time of last use, to the second */
  lastActivity: string;
  /** expiry time; absent if it does not expire */
  expiresAt?: string;
  /** idle time after which it ends */
  idleTimeoutSeconds?: number;
  /** why it failed or ended */
  cause?: string;
  /** limits that its provider does not enforce on this host; not in lists */
  unenforcedLimits?: string[];
  /** those of them that the create request set; only in its response */
  unenforcedRequestedLimits?: string[];
  /** tags set by the client */
  tags: Record<string, string>;
  /** the spec, with defaults */
  spec: SandboxSpec;
}

export interface SandboxAttempt {
  /** provider that was tried */
  provider: string;
  /** why it failed */
  reason: string;
  /** time of the attempt */
  at: string;
}

export interface SandboxError {
  /** time of the failure */
  at: string;
  /** error code */
  code: string;
  /** what failed */
  operation: string;
  /** one sentence; *** for keys with scope read */
  message: string;
}

export type SandboxHealth = "healthy" | "unhealthy" | "unknown";

export interface SandboxList {
  /** one page of sandboxes */
  sandboxes: Sandbox[];
  /** cursor of the next page */
  next?: string;
}

export interface SandboxSpec {
  /** version of the spec; default v2 */
  apiVersion?: ApiVersion;
  /** sandbox id; generated if absent */
  id?: string;
  /** name of an image, or snapshot:ID */
  image?: string;
  /** environment variables */
  env?: Record<string, string>;
  /** names of the secret variables */
  secretEnv?: string[];
  /** default working directory of commands */
  cwd?: string;
  /** default user of commands */
  user?: string;
  /** folder of the host to use as workspace; requires scope admin */
  workspacePath?: string;
  /** path of the workspace; default /workspace */
  workspaceMount?: string;
  /** mounts */
  volumes?: VolumeMount[];
  /** files to create, by path */
  seedFiles?: Record<string, Content>;
  /** command that must succeed before the sandbox is ready */
  init?: InitCommand;
  /** time for the start, including init */
  startupTimeoutMs?: number;
  /** at most 64 tags to attach to the sandbox */
  tags?: Record<string, string>;
  /** lifetime; default: set by the operator */
  ttlSeconds?: number;
  /** time after which the sandbox ends if no server is connected to it */
  lingerSeconds?: number;
  /** whether requests resume it; default false */
  autoResume?: boolean;
  /** what happens after idleTimeoutSeconds */
  whenIdle?: ExpiryAction;
  /** what happens after ttlSeconds */
  whenExpired?: ExpiryAction;
  /** limits of the sandbox */
  resources?: ResourceLimits;
  /** network settings */
  network?: Network;
  /** purpose of the sandbox */
  containerType?: Workload;
  /** the server that a sandbox of containerType mcp_server hosts */
  mcp?: McpServer;
  /** number of GPUs */
  gpus?: number;
  /** properties that the provider must have */
  require?: Requirements;
}

export type SandboxState = "creating" | "running" | "paused" | "stopped" | "error" | "terminating" | "destroyed";

export interface SandboxStatus {
  /** sandbox id */
  id: string;
  /** the same as id */
  runtimeId: string;
  /** provider that created it */
  provider: string;
  /** the same as provider */
  runtime: string;
  /** id of its container at a container engine */
  containerId?: string;
  /** lifecycle state */
  state: SandboxState;
  /** healthy: it is running and answered; unhealthy: it failed or did not answer; unknown: it is not running or cannot be probed */
  health: SandboxHealth;
  /** why it is not healthy; *** for keys with scope read */
  reason?: string;
  /** creation time */
  createdAt: string;
  /** time of last use, to the second */
  lastActivity: string;
  /** absent if it is not running or its provider does not measure */
  usage?: SandboxStatusUsage;
  /** latest failures since the server started, oldest first */
  errors: SandboxError[];
}

export interface SandboxStatusUsage {
  /** CPU time since the start */
  cpuMs: number;
  /** current memory usage */
  memoryBytes: number;
  /** peak memory usage */
  memoryPeakBytes: number;
  /** size of written files, if measured */
  diskBytes?: number;
  /** bytes received over its network */
  receivedBytes?: number;
  /** bytes sent over its network */
  sentBytes?: number;
  /** number of running processes */
  processes: number;
  /** time since the start */
  uptimeMs: number;
  /** CPU usage in percent of one processor, over cpuIntervalMs */
  cpuPercent?: number;
  /** time between the two measurements of cpuPercent */
  cpuIntervalMs?: number;
}

export interface SandboxUsage {
  /** CPU time since the start */
  cpuMs: number;
  /** current memory usage */
  memoryBytes: number;
  /** peak memory usage */
  memoryPeakBytes: number;
  /** size of written files, if measured */
  diskBytes?: number;
  /** bytes received over its network */
  receivedBytes?: number;
  /** bytes sent over its network */
  sentBytes?: number;
  /** number of running processes */
  processes: number;
  /** time since the start */
  uptimeMs: number;
}

export interface Secret {
  /** name of the secret */
  name: string;
  /** the hosts that receive the value */
  hosts: string[];
  /** names of the API keys that may use it in a sandbox; without it, every key with scope use */
  keys?: string[];
  /** what sandboxes have in place of the value */
  placeholder: string;
  /** creation time */
  createdAt: string;
  /** time of the last change */
  updatedAt: string;
}

export interface SecretKeyRotation {
  /** id of the key in use */
  keyId: string;
  /** number of values encrypted again */
  values: number;
}

export interface SecretList {
  /** the secrets */
  secrets: Secret[];
}

export interface Selection {
  /** absent if the request would fail */
  chosen?: ChosenProvider;
  /** the eligible ones in the order in which they are tried, then the others */
  providers: ConsideredProvider[];
  /** the error that the create request would have */
  problem?: Problem;
}

export interface Server {
  /** name of the server, which its data folder has */
  name: string;
  /** where the other servers reach it */
  url: string;
  /** version of Isola that it runs */
  version: string;
  /** start time */
  startedAt: string;
  /** whether its lease is valid; others take over the sandboxes of a server whose lease has ended */
  alive: boolean;
}

export interface ServerInfo {
  /** name of the product */
  name: string;
  /** version of the server */
  version: string;
  /** path of the OpenAPI document */
  openapi: string;
  /** path of the API reference for browsers */
  docs: string;
  /** host of the OpenID Connect provider with which people can sign in */
  oidcProvider?: string;
}

export interface ServerList {
  /** name of the server that answers */
  self?: string;
  /** by name */
  servers: Server[];
}

export interface Session {
  /** name of the key in the logs */
  actor: string;
  /** what the client may do */
  scope: KeyScope;
  /** the only sandbox, for a sandbox token */
  sandbox?: string;
  /** when the session expires unless it is used, or the token; absent for a key */
  expiresAt?: string;
  /** version of the server */
  version: string;
}

export interface SetPortRequest {
  /** whether the port is accessible without a credential */
  public: boolean;
}

export interface Setup {
  /** whether a provider is usable */
  ready: boolean;
  /** names of usable providers */
  providers: string[];
  /** items, unfinished ones first */
  steps: SetupStep[];
}

export interface SetupStep {
  /** kind of the item */
  about: "machine" | "tool" | "provider";
  /** name of the item */
  name: string;
  /** whether no action is needed */
  done: boolean;
  /** what was found */
  detail: string;
  /** what to do next; empty if no action is needed */
  fix: string;
}

export interface SignalRequest {
  /** TERM, SIGTERM or 15; KILL kills the process tree */
  signal: string;
}

export interface Snapshot {
  /** snapshot id; snapshot:ID can be used as an image */
  id: string;
  /** creation time */
  createdAt: string;
  /** sandbox that it was taken from */
  sandbox: string;
  /** provider of the sandbox */
  provider: string;
  /** version of Isola that created it */
  runtime: string;
  /** CPU architecture */
  architecture: string;
  /** filesystem: processes start again; memory: they continue, at the same provider */
  kind: string;
  /** tags set by the client */
  tags: Record<string, string>;
  /** the previous snapshot that it is based on */
  parent?: string;
  /** image of the sandbox */
  image?: string;
  /** directory in the sandbox */
  path: string;
  /** patterns of included paths; empty for all */
  include: string[];
  /** patterns of excluded paths */
  exclude: string[];
  /** everything that the sandbox wrote, or a directory */
  scope: "everything" | "folder";
  /** digest of the image that its changes are relative to */
  imageDigest?: string;
  /** directories that it contains completely, with scope everything */
  folders?: string[];
  /** number of files, directories and links */
  files: number;
  /** total size of the content */
  bytes: number;
  /** size of content that was new to the store */
  newBytes: number;
  /** size of the new content in the store */
  storedBytes: number;
  /** SHA-256 of the list of files */
  checksum: string;
}

export interface SnapshotDiff {
  /** files only in the later snapshot */
  added: string[];
  /** files that differ */
  changed: string[];
  /** files only in the earlier snapshot */
  removed: string[];
}

export interface SnapshotList {
  /** the snapshots */
  snapshots: Snapshot[];
}

export interface StartExecutionRequest {
  /** a command line for /bin/sh -c, or with mode argv a program; alternative to argv */
  command?: string;
  /** how command runs: shell, the default, or argv, without a shell */
  mode?: CommandMode;
  /** arguments of command: in mode shell quoted and appended to the command line, in mode argv passed literally */
  args?: string[];
  /** a program and its arguments, without a shell; alternative to command; beside command, an empty list counts as absent */
  argv?: string[];
  /** variables added to the environment of the sandbox */
  env?: Record<string, string>;
  /** working directory */
  cwd?: string;
  /** user that runs the command */
  user?: string;
  /** timeout after which the process tree is killed */
  timeoutMs?: number;
  /** a tag chosen by the client */
  tag?: string;
  /** whether stdin stays open; default false */
  stdin?: boolean;
  /** run the command in a terminal of this size, with stdin open */
  terminal?: TerminalSize;
}

export interface StartedExecution {
  /** id, unique within the sandbox */
  id: string;
  /** process id inside the sandbox */
  pid: number;
}

export interface Status {
  /** ok or ready */
  status: string;
}

export interface Template {
  /** template id; never reused */
  id: string;
  /** name for create requests */
  name: string;
  /** all names, including tags */
  names: string[];
  /** image; absent until a build has succeeded */
  image?: string;
  /** environment of its sandboxes; *** below scope use */
  env: Record<string, string>;
  /** default user of commands */
  user?: string;
  /** default working directory of commands */
  cwd?: string;
  /** command that runs in the background; *** below scope use */
  start?: string;
  /** command that succeeds once start is ready; *** below scope use */
  ready?: string;
  /** CPU cores of its sandboxes */
  cpu?: number;
  /** memory of its sandboxes in MB */
  memoryMb?: number;
  /** id of the newest build */
  build: string;
  /** creation time */
  createdAt: string;
  /** time of the last change */
  updatedAt: string;
}

export interface TemplateBuild {
  /** build id */
  id: string;
  /** template id */
  template: string;
  /** state of the build */
  state: TemplateBuildState;
  /** why the build failed; *** below scope admin */
  reason?: string;
  /** number of the failed step, starting at 1 */
  failedStep?: number;
  /** creation time */
  createdAt: string;
  /** time of the last state change */
  updatedAt: string;
}

export interface TemplateBuildList {
  /** the stored builds */
  builds: TemplateBuild[];
}

export type TemplateBuildState = "waiting" | "running" | "ready" | "failed";

export interface TemplateList {
  /** the templates */
  templates: Template[];
}

export interface TemplateUpload {
  /** the requested digest */
  sha256: string;
  /** whether the archive exists */
  uploaded: boolean;
}

export interface TerminalSize {
  /** height in lines */
  rows: number;
  /** width in characters */
  cols: number;
}

export interface Token {
  /** the token, which cannot be retrieved later */
  token: string;
  /** scope of the token */
  scope: TokenScope;
  /** sandbox id */
  sandbox: string;
  /** expiry time */
  expiresAt: string;
}

export type TokenScope = "use" | "read" | "preview";

export interface TreeSummary {
  /** number of entries */
  entries: number;
  /** size of the content */
  bytes: number;
}

export interface UpdateKeyRequest {
  /** whether sandboxes created with the key never fall back to another provider */
  strictNoFallback: boolean;
}

export interface Volume {
  /** volume id; never reused */
  id: string;
  /** name for mounting it in sandboxes */
  name: string;
  /** provider that stores it; empty if not yet known */
  provider: string;
  /** state; in removing, removal is retried until the provider has removed it */
  state: VolumeState;
  /** creation time */
  createdAt: string;
}

export interface VolumeFileList {
  /** the entries */
  entries: FileInfo[];
  /** whether there are more than 10000 entries */
  truncated: boolean;
}

export interface VolumeList {
  /** the volumes */
  volumes: Volume[];
}

export interface VolumeMount {
  /** default bind */
  type?: VolumeType;
  /** host path of a bind mount, or name of a volume; none for tmpfs */
  source?: string;
  /** absolute path in the sandbox */
  destination: string;
  /** whether writing fails; default false */
  readonly?: boolean;
}

export interface VolumeMountRequest {
  /** default bind */
  type?: VolumeType;
  /** host path of a bind mount, or name of a volume; none for tmpfs */
  source?: string;
  /** absolute path in the sandbox */
  destination: string;
  /** whether writing fails; default false */
  readonly?: boolean;
  /** use readonly instead @deprecated */
  readOnly?: boolean;
}

export type VolumeState = "creating" | "available" | "removing";

export type VolumeType = "bind" | "volume" | "tmpfs";

export type Workload = "agent_workspace" | "mcp_server";
