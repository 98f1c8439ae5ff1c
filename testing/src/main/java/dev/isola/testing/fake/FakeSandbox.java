package dev.isola.testing.fake;

import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.file.FileSystem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * An in-memory sandbox with built-in programs: echo, warn, cat, bytes, exit, kill, sleep, oom,
 * crowd, lose, env.
 */
public final class FakeSandbox implements Sandbox {
  private final SandboxId id;
  private final List<Command> commands;

  FakeSandbox(SandboxId id, List<Command> commands) {
    this.id = id;
    this.commands = commands;
  }

  @Override
  public SandboxId id() {
    return id;
  }

  @Override
  public SandboxState state() {
    return SandboxState.RUNNING;
  }

  @Override
  public Execution start(Command command) {
    commands.add(command);
    if (command.cwd().orElse("").equals("/missing")) {
      throw Fault.of(ErrorCode.FILE_NOT_FOUND, "no such path", "").exception();
    }
    FakeExecution execution = new FakeExecution();
    String text = String.join(" ", command.args());
    switch (command.program()) {
      case "true" -> execution.end(new Exit.Exited(0));
      case "echo" -> execution.write(Channel.STDOUT, text + "\n").end(new Exit.Exited(0));
      case "warn" -> execution.write(Channel.STDERR, text + "\n").end(new Exit.Exited(0));
      case "bytes" ->
          execution
              .write(Channel.STDOUT, new byte[] {0, (byte) 0xff, (byte) 0xfe, '\r', '\n'})
              .end(new Exit.Exited(0));
      case "cat" -> execution.echoStdin();
      case "exit" -> execution.end(new Exit.Exited(Integer.parseInt(text)));
      case "kill" -> execution.end(new Exit.Signaled(new Signal(Integer.parseInt(text))));
      case "sleep" -> execution.end(new Exit.TimedOut(command.timeout().orElseThrow()));
      case "oom" -> execution.end(new Exit.OutOfMemory());
      case "crowd" -> execution.met(LimitKind.PROCESSES).end(new Exit.Signaled(Signal.KILL));
      case "lose" -> execution.end(new Exit.Lost("it sank"));
      case "env" ->
          execution
              .write(Channel.STDOUT, command.env().toString().getBytes(StandardCharsets.UTF_8))
              .end(new Exit.Exited(0));
      case "/etc/passwd" ->
          throw Fault.of(ErrorCode.COMMAND_NOT_EXECUTABLE, "cannot execute", "").exception();
      case "boom" -> throw new IllegalStateException("a bug\nin two lines");
      default -> throw Fault.of(ErrorCode.COMMAND_NOT_FOUND, "no such command", "").exception();
    }
    return execution;
  }

  @Override
  public FileSystem files() {
    throw new UnsupportedOperationException("the command does not touch files");
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.empty();
  }
}
