package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;

/**
 * Checks that a failure is attributed to its cause, reported in bounded time and leaves nothing
 * behind.
 */
public final class FailuresChecks {
  /** The maximum length of command output in an error, including the note about omitted bytes. */
  private static final int MAX_OUTPUT = 10_000;

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static SandboxException initFailure(CheckContext check, SandboxSpec spec) {
    SandboxException e =
        Expect.thrown("create", () -> check.provider().create(spec), ErrorCode.INIT_FAILED);
    Expect.equal(Category.CALLER, e.category(), "the category");
    Expect.that(!e.fault().remedy().isBlank(), "the error has a remedy");
    expectNothingLeft(check.provider(), spec.id());
    return e;
  }

  private static void expectNothingLeft(Provider provider, SandboxId id) {
    Expect.that(
        provider.inventory().stream().noneMatch(seen -> seen.id().equals(id)),
        "the inventory does not list " + id);
    Expect.that(provider.attach(id).isEmpty(), "there is no sandbox " + id + " to attach to");
  }

  @Check("S1")
  public void failingInitIsAnInvalidRequestWithExitCodeAndOutput(CheckContext check) {
    SandboxSpec spec =
        check.spec().init(Command.shell("echo one; echo broken tools >&2; exit 3")).build();
    Map<String, String> context = initFailure(check, spec).context();
    Expect.equal("3", context.get("exitCode"), "the exit code");
    Expect.equal("one\n", context.get("stdout"), "its standard output");
    Expect.equal("broken tools\n", context.get("stderr"), "its standard error");
  }

  @Check("S1")
  public void outputOfAFailingInitIsNotInTheMessage(CheckContext check) {
    SandboxSpec spec = check.spec().init(Command.shell("echo hunter2 >&2; exit 3")).build();
    SandboxException e = initFailure(check, spec);
    Expect.that(
        !e.fault().problem().contains("hunter2"),
        "what may be secret is not in the sentence that is stored: " + e.fault().problem());
    Expect.contains(e.fault().problem(), "3", "the message");
  }

  @Check("S1")
  public void outputOfAFailingInitIsBounded(CheckContext check) {
    SandboxSpec spec =
        check
            .spec()
            .init(
                Command.shell(
                    "i=0; while [ $i -lt 4000 ]; do echo 0123456789; echo 0123456789 >&2;"
                        + " i=$((i+1)); done; echo the end; exit 4"))
            .build();
    SandboxException e = initFailure(check, spec);
    for (String channel : new String[] {"stdout", "stderr"}) {
      int size = e.context().getOrDefault(channel, "").length();
      Expect.that(size > 0 && size <= MAX_OUTPUT, channel + " is there and bounded: " + size);
    }
    Expect.contains(e.context().getOrDefault("stdout", ""), "the end", "the last of its output");
  }

  @Check("S1")
  public void initThatCannotStartIsAnInvalidRequest(CheckContext check) {
    initFailure(check, check.spec().init(Command.argv("/no/such/program")).build());
  }

  @Check("S1")
  public void startupTimeoutIncludesInit(CheckContext check) throws InterruptedException {
    SandboxSpec spec =
        check
            .spec()
            .init(Command.argv("sleep", "1000"))
            .startupTimeout(Duration.ofSeconds(3))
            .build();
    ConcurrentCalls.start(() -> initFailure(check, spec))
        .get(TIMEOUT, "create gives up after its startup timeout");
  }

  @Check("S1")
  public void initMayHaveATimeoutOfItsOwn(CheckContext check) throws InterruptedException {
    SandboxSpec spec =
        check
            .spec()
            .init(Command.argv("sleep", "1000").withTimeout(Duration.ofMillis(500)))
            .startupTimeout(Duration.ofMinutes(5))
            .build();
    SandboxException e =
        ConcurrentCalls.start(() -> initFailure(check, spec))
            .get(TIMEOUT, "create gives up after the timeout of the init command");
    Expect.equal("true", e.context().get("timedOut"), "whether it timed out");
  }

  @Check("S7")
  public void destroyWithATimeoutEndsInTimeAndCanBeRepeated(CheckContext check)
      throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    sandbox.start(Command.shell("trap '' TERM INT HUP; while :; do sleep 1; done"));
    ConcurrentCalls.start(
            () -> destroy(check, sandbox.id(), new DestroyOptions(false, Duration.ofMillis(1))))
        .get(TIMEOUT, "a destroy with a timeout of 1 ms returns or throws");
    check.provider().destroy(sandbox.id(), new DestroyOptions(true, Duration.ofSeconds(30)));
    expectNothingLeft(check.provider(), sandbox.id());
    check.provider().destroy(sandbox.id(), new DestroyOptions(true, Duration.ofMillis(1)));
  }

  /** Either nothing is left, or the error reports the timeout. */
  private static SandboxId destroy(CheckContext check, SandboxId id, DestroyOptions how) {
    try {
      check.provider().destroy(id, how);
    } catch (SandboxException e) {
      Expect.that(
          e.category() == Category.RESOURCE || e.category() == Category.PROVIDER,
          "a destroy that ran out of time is not the caller's mistake and no bug: " + e);
      Expect.that(!e.fault().remedy().isBlank(), "the error has a remedy: " + e);
      return id;
    }
    expectNothingLeft(check.provider(), id);
    return id;
  }

  /** A data folder beneath a regular file cannot be created, not even by root. */
  @Check("P8")
  public void unhealthyProviderSaysWhyAndWhatToDo(CheckContext check) throws IOException {
    Path file = Files.createTempFile("isola-check", ".file");
    try {
      ProviderUnderTest here = check.underTest();
      Path unusable = file.resolve("data");
      ProviderContext context =
          new ProviderContext(here.instance(), unusable, InstantSource.system());
      try (Provider provider = here.factory().create(here.config(), context)) {
        judge(check, provider);
      } catch (SandboxException refused) {
        Expect.that(!refused.fault().problem().isBlank(), "the problem is not blank: " + refused);
        Expect.that(!refused.fault().remedy().isBlank(), "the remedy is not blank: " + refused);
      }
    } finally {
      Files.delete(file);
    }
  }

  private static void judge(CheckContext check, Provider provider) {
    SandboxSpec spec = check.spec().build();
    switch (provider.health()) {
      case Health.Unhealthy(String reason, String fix) -> {
        Expect.that(!reason.isBlank(), "an unhealthy provider has a reason");
        Expect.that(!fix.isBlank(), "an unhealthy provider has a fix: " + reason);
      }
      case Health.Degraded(String reason, String fix) -> {
        Expect.that(!reason.isBlank(), "a degraded provider has a reason");
        Expect.that(!fix.isBlank(), "a degraded provider has a fix: " + reason);
      }
      case Health.Healthy(String detail) -> {
        // The provider does not need the folder, so it must be able to create a sandbox.
        provider.create(spec);
        provider.destroy(spec.id(), DestroyOptions.FORCE);
        Expect.that(!detail.isBlank(), "a healthy provider has a detail");
      }
    }
  }
}
