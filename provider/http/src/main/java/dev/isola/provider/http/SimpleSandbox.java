package dev.isola.provider.http;

import dev.isola.scripts.ScriptedFiles;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.provider.BasicFeature;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A sandbox at level simple: one request for each command and file. Output arrives when a command
 * has ended; it cannot be attached to, and signals other than {@code KILL} are not supported.
 */
final class SimpleSandbox implements Sandbox {
  /** What one request for each command cannot do. */
  static final Set<BasicFeature> LACKS = lacks();

  private final Backend backend;
  private final SandboxId id;
  private final SandboxNote note;
  private final Map<Class<? extends Capability>, Capability> capabilities;
  private final FileSystem files;
  private volatile SandboxState state = SandboxState.RUNNING;

  SimpleSandbox(
      Backend backend,
      SandboxId id,
      SandboxNote note,
      Map<Class<? extends Capability>, Capability> capabilities) {
    this.backend = backend;
    this.id = id;
    this.note = note;
    this.capabilities = Map.copyOf(capabilities);
    this.files = new SimpleFiles(this, note.folder());
  }

  private static Set<BasicFeature> lacks() {
    Set<BasicFeature> lacks = EnumSet.copyOf(ScriptedFiles.LACKS);
    lacks.add(BasicFeature.LIVE_STREAMS);
    lacks.add(BasicFeature.SIGNALS);
    lacks.add(BasicFeature.BACKGROUND_PROCESSES);
    lacks.add(BasicFeature.PROCESS_IDS);
    return lacks;
  }

  @Override
  public SandboxId id() {
    return id;
  }

  @Override
  public SandboxState state() {
    return state;
  }

  void setState(SandboxState now) {
    if (state != SandboxState.DESTROYED) {
      state = now;
    }
  }

  Backend backend() {
    return backend;
  }

  SandboxNote note() {
    return note;
  }

  @Override
  public Execution start(Command command) {
    requireRunning();
    return SimpleExecution.start(this, command);
  }

  @Override
  public FileSystem files() {
    return files;
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.ofNullable(capabilities.get(capability)).map(capability::cast);
  }

  private void requireRunning() {
    switch (state) {
      case RUNNING -> {}
      case DESTROYED -> throw gone();
      default ->
          throw Fault.of(
                  ErrorCode.ILLEGAL_STATE,
                  "sandbox " + id + " is " + state.name().toLowerCase(Locale.ROOT),
                  "resume it first")
              .sandbox(id)
              .exception();
    }
  }

  /** Calls the backend, and remembers if the sandbox no longer exists. */
  <T> T call(Supplier<T> request) {
    requireRunning();
    try {
      return request.get();
    } catch (SandboxException e) {
      throw translated(e);
    }
  }

  SandboxException translated(SandboxException e) {
    if (Backend.isGone(e)) {
      state = SandboxState.DESTROYED;
      return gone();
    }
    return e.sandbox().isPresent() ? e : e.fault().sandbox(id).exception(e);
  }

  private SandboxException gone() {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id + " no longer exists",
            "create a new sandbox")
        .sandbox(id)
        .exception();
  }
}
