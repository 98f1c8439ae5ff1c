package dev.isola.compat.e2b.create;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.compat.e2b.template.Kernel;
import dev.isola.compat.e2b.template.Template;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.server.context.Serving;
import dev.isola.spi.Destroy;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** What a sandbox of E2B's clients begins with: its volumes, and the command of its template. */
public record Beginnings(Serving serving) {
  private static final Duration LONGEST = Duration.ofSeconds(60);
  private static final Duration BETWEEN = Duration.ofMillis(100);
  private static final int MOST_READ = 64 * 1024;

  /** Returns when the command is ready; a sandbox in which it never is goes again. */
  public void begin(SandboxView entry, Template template) {
    SandboxSpec spec = SpecText.read(entry.spec(), entry.id()).spec();
    if (template.start().isEmpty() && spec.volumes().isEmpty()) {
      return;
    }
    try {
      Sandbox sandbox = serving.engine().sandbox(entry.id());
      spec.user().ifPresent(user -> giveVolumes(sandbox, spec, user));
      template.start().ifPresent(text -> start(sandbox, template, text));
    } catch (SandboxException e) {
      serving.engine().destroy(entry.id(), Destroy.FORCE);
      throw e;
    }
  }

  /** A volume that nobody has used yet is root's, who is not whom commands run as. */
  private static void giveVolumes(Sandbox sandbox, SandboxSpec spec, String user) {
    FileSystem all = sandbox.files().as(FileUser.rootFor(user));
    for (Volume volume : spec.volumes()) {
      boolean named = volume.type() == Volume.Type.VOLUME && !volume.readOnly();
      if (named && all.stat(volume.destination(), NOFOLLOW_LINKS).uid() == 0) {
        all.changeOwner(volume.destination(), user);
      }
    }
  }

  private static void start(Sandbox sandbox, Template template, String text) {
    Command command = as(template, text).withTag("start");
    if (Kernel.isOf(template)) {
      try (Execution running = sandbox.start(Kernel.command(command))) {
        awaitWord(running);
      }
      return;
    }
    sandbox.start(command).close();
    if (template.ready().isPresent()) {
      awaitSuccess(sandbox, as(template, template.ready().get()).withTimeout(LONGEST));
    }
  }

  private static Command as(Template template, String text) {
    return Command.argv("/bin/bash", "-l", "-c", text)
        .withUser(template.user())
        .withCwd(template.folder());
  }

  private static void awaitWord(Execution running) {
    StringBuilder said = new StringBuilder();
    for (Optional<Output> part = running.read(); part.isPresent(); part = running.read()) {
      if (part.get() instanceof Output.Data data) {
        said.append(new String(data.bytes().toArray(), StandardCharsets.UTF_8));
      }
      if (said.indexOf(Kernel.READY) >= 0) {
        return;
      }
      if (said.length() > MOST_READ) {
        break;
      }
    }
    throw failed("the code interpreter did not start: " + said.toString().strip());
  }

  private static void awaitSuccess(Sandbox sandbox, Command ready) {
    long until = System.nanoTime() + LONGEST.toNanos();
    while (!sandbox.run(ready).exit().equals(new Exit.Exited(0))) {
      if (System.nanoTime() > until) {
        throw failed(
            "the template's start command was not ready after " + LONGEST.toSeconds() + " s");
      }
      try {
        Thread.sleep(BETWEEN);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw failed("nobody waits for the sandbox any more");
      }
    }
  }

  private static SandboxException failed(String what) {
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            what,
            "try the commands of the template in a sandbox without them")
        .exception();
  }
}
