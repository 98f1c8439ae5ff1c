package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.provider.memory.file.DeviceKind;
import dev.isola.provider.memory.file.MemoryFiles;
import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.Job;
import dev.isola.provider.memory.process.Jobs;
import dev.isola.provider.memory.process.MemoryExecution;
import dev.isola.provider.memory.process.Processes;
import dev.isola.provider.memory.process.Timers;
import dev.isola.provider.memory.shell.Executables;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.StateTransition;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One sandbox: a tree of files, simulated processes, and a clock for its end. */
final class MemorySandbox implements Sandbox {
  private static final long MOST_DISK = 256L << 20;
  private static final long MEGABYTE = 1_000_000;
  private static final int PATH_MAX = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final SandboxSpec spec;
  private final Instant createdAt;
  private final Faults faults;
  private final Tree tree;
  private final Processes processes;
  private final Jobs jobs = new Jobs();
  private final MemoryFiles files;
  private final FileSystem namedFiles;
  private final Capabilities capabilities;
  private volatile SandboxState state = SandboxState.RUNNING;
  private @Nullable Future<?> deadline;

  MemorySandbox(
      SandboxSpec spec, Instant createdAt, Faults faults, Function<SandboxSpec, Sandbox> create) {
    this.capabilities = new Capabilities(this, create);
    this.spec = spec;
    this.createdAt = createdAt;
    this.faults = faults;
    this.tree = new Tree(capacity(spec, faults), faults);
    this.processes = new Processes(tree, spec.limits().processes());
    this.files = new MemoryFiles(tree, spec.workingFolder(), this::checkRunning);
    this.namedFiles = SandboxNamed.around(FileSystem.class, files, spec.id());
    furnish();
  }

  private static long capacity(SandboxSpec spec, Faults faults) {
    return faults.has(PlantedFault.DISK_NOT_ENFORCED)
        ? MOST_DISK
        : Math.min(MOST_DISK, spec.limits().diskMb() * MEGABYTE);
  }

  private void furnish() {
    for (String folder :
        List.of("/bin", "/dev/pts", "/etc", "/root", "/usr/bin", "/tmp", "/proc/net")) {
      tree.makeFolder(folder, 0755);
    }
    tree.device("/dev/null", DeviceKind.NULL);
    tree.device("/dev/zero", DeviceKind.ZERO);
    tree.device("/dev/tty", DeviceKind.TERMINAL);
    Executables.install(tree);
    if (faults.has(PlantedFault.AGENT_IS_REPLACEABLE)) {
      tree.makeFolder("/.isola", 0755);
      tree.openForWriting("/.isola/agent", false, false, 0755);
    }
    tree.makeFolder(spec.workspaceMount(), 0755);
    tree.makeFolder(spec.workingFolder(), 0755);
  }

  /** Whether a path in the workspace is longer than a kernel takes. */
  boolean hasDeepTree() {
    return tree.list(spec.workspaceMount(), 0).stream()
        .anyMatch(file -> file.path().length() > PATH_MAX);
  }

  SandboxSpec spec() {
    return spec;
  }

  Faults faults() {
    return faults;
  }

  Jobs jobs() {
    return jobs;
  }

  Tree tree() {
    return tree;
  }

  Processes processes() {
    return processes;
  }

  MemoryFiles memoryFiles() {
    return files;
  }

  Instant createdAt() {
    return createdAt;
  }

  @Override
  public SandboxId id() {
    return spec.id();
  }

  @Override
  public SandboxState state() {
    return state;
  }

  boolean isAlive() {
    return state != SandboxState.DESTROYED && state != SandboxState.TERMINATING;
  }

  void checkAlive() {
    if (isAlive()) {
      return;
    }
    if (faults.has(PlantedFault.FOREIGN_EXCEPTION)) {
      throw new IllegalStateException("closed");
    }
    throw Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id() + " is destroyed",
            "create a new sandbox")
        .sandbox(id())
        .exception();
  }

  @Override
  public Execution start(Command command) {
    return launch(command, Optional.empty(), job -> new MemoryExecution(job, 0));
  }

  /**
   * Starts a command, on a terminal when a size is given. The handle is there before the first
   * output.
   */
  <E extends Execution> E launch(
      Command command, Optional<TerminalSize> terminal, Function<Job, E> handle) {
    return SandboxNamed.call(id(), () -> launchNow(command, terminal, handle));
  }

  private <E extends Execution> E launchNow(
      Command command, Optional<TerminalSize> terminal, Function<Job, E> handle) {
    checkRunning();
    command.user().ifPresent(SpecCheck::refuseOtherUser);
    String folder = folder(command.cwd().orElse(spec.workingFolder()));
    Map<String, String> env = environment(command, terminal.isPresent());
    var body = Executables.body(tree, folder, words(command), env);
    lock.lock();
    try {
      checkAlive();
      Job job = new Job(jobs.nextId(), command, folder, terminal, processes, faults);
      E made = handle.apply(job);
      jobs.add(job);
      job.start(body, command.timeout().or(() -> spec.limits().timeout()));
      return made;
    } finally {
      lock.unlock();
    }
  }

  private List<String> words(Command command) {
    boolean shell = command.mode() == Command.Mode.SHELL;
    return shell && faults.has(PlantedFault.DASH_IS_AN_OPTION)
        ? List.of("/bin/sh", "-c", command.display())
        : command.words();
  }

  private String folder(String path) {
    String absolute = Tree.absolute(spec.workingFolder(), path);
    Optional<FileInfo> found = tree.find(absolute, true);
    if (found.isEmpty() || found.get().type() != FileType.FOLDER) {
      throw Fault.of(
              found.isEmpty() ? ErrorCode.INVALID_REQUEST : ErrorCode.NOT_A_FOLDER,
              "the working folder " + path + " is not there",
              "make it first, or name another")
          .sandbox(id())
          .with("cwd", path)
          .exception();
    }
    return found.get().path();
  }

  private Map<String, String> environment(Command command, boolean terminal) {
    Map<String, String> env = new TreeMap<>();
    env.put("PATH", Executables.PATH);
    env.put("HOME", "/root");
    env.put("USER", "root");
    env.put("LANG", "C.UTF-8");
    if (terminal) {
      env.put("TERM", "xterm-256color");
    }
    env.putAll(faults.has(PlantedFault.SECRET_VARIABLES_LOST) ? spec.env() : spec.environment());
    env.putAll(command.env());
    return env;
  }

  private void checkRunning() {
    checkAlive();
    if (state != SandboxState.RUNNING) {
      throw Fault.of(ErrorCode.ILLEGAL_STATE, "sandbox " + id() + " is paused", "resume it first")
          .sandbox(id())
          .exception();
    }
  }

  @Override
  public FileSystem files() {
    checkAlive();
    return namedFiles;
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    checkAlive();
    return capabilities.get(capability);
  }

  void freeze(boolean now) {
    lock.lock();
    try {
      checkAlive();
      if (faults.has(PlantedFault.PAUSE_FORGOTTEN)) {
        return;
      }
      SandboxState wanted = now ? SandboxState.PAUSED : SandboxState.RUNNING;
      if (state != wanted) {
        state = StateTransition.check(state, wanted, id());
        processes.freeze(now);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Sets the deadline after which the sandbox ends by itself. */
  void renew(Duration fromNow) {
    lock.lock();
    try {
      checkAlive();
      if (deadline != null) {
        deadline.cancel(false);
      }
      deadline = Timers.after(fromNow, () -> end("its time was over"));
    } finally {
      lock.unlock();
    }
  }

  /** Ends everything; returns when nothing is left. */
  void end(String why) {
    lock.lock();
    try {
      if (state == SandboxState.DESTROYED) {
        return;
      }
      state = SandboxState.TERMINATING;
      if (deadline != null) {
        deadline.cancel(false);
      }
      jobs.all().forEach(job -> job.lose("sandbox " + id() + " is gone: " + why));
      processes.close();
      tree.closeWatches();
      state = SandboxState.DESTROYED;
    } finally {
      lock.unlock();
    }
  }

  Sighting sighting() {
    return new Sighting(
        id(), state, createdAt, Map.of("processes", Integer.toString(processes.all().size())));
  }
}
