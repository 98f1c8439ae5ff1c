package dev.isola.conformance.check;

import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.CheckNotRun;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.escape.EscapeProbe;
import dev.isola.conformance.escape.EscapeProbe.Evidence;
import dev.isola.conformance.escape.EscapeVerifier;
import dev.isola.conformance.escape.HostTargets;
import dev.isola.conformance.escape.ProbeContext;
import dev.isola.conformance.escape.ProbeContext.TargetMissingException;
import dev.isola.conformance.escape.ProbeProgram;
import dev.isola.conformance.escape.ProbeResult;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** Runs one probe against one provider: first on the bare host, then in a sandbox. */
final class EscapeAttempt {
  private static final Duration TIMEOUT = Duration.ofSeconds(40);
  private static final String PROGRAM = "./" + ProbeProgram.NAME;
  private static final String ROOT = "0";

  private static final String UNPRIVILEGED = "65534";

  private final EscapeProbe probe;
  private final CheckContext check;
  private final Isolation isolation;
  private final ProbeProgram program;

  EscapeAttempt(EscapeProbe probe, CheckContext check) {
    this.probe = probe;
    this.check = check;
    this.isolation = check.info().isolation();
    this.program =
        ProbeProgram.find()
            .orElseThrow(
                () -> new CheckNotRun("there is no " + ProbeProgram.NAME + " for this machine"));
  }

  void run() throws IOException, InterruptedException {
    skipIfNotApplicable();
    try (HostTargets targets = HostTargets.create(program)) {
      switch (probe.location()) {
        case HOST -> {
          control(context -> context);
          attempt(
              createWithProgram(spec -> spec),
              targets,
              targets.context(),
              check.underTest().data());
        }
        case OTHER_SANDBOX -> {
          control(context -> context);
          Sandbox sandbox = createWithProgram(spec -> spec);
          try (SandboxTargets otherTargets =
              SandboxTargets.create(createWithProgram(spec -> spec))) {
            attempt(sandbox, targets, otherTargets.context(), check.underTest().data());
          }
        }
        case INSTALLATION -> {
          Sandbox sandbox = createWithProgram(spec -> spec);
          ProviderDataFiles data = ProviderDataFiles.of(check.underTest().data());
          control(data::addTo);
          attempt(sandbox, targets, data.addTo(targets.context()), check.underTest().data());
        }
        case WORKSPACE -> {
          control(context -> context);
          try (TemporaryFolder shared = TemporaryFolder.create("isola-shared-")) {
            Sandbox sandbox = createInFolder(shared.path());
            attempt(sandbox, targets, targets.context(), shared.path());
            check.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
          }
        }
      }
    } catch (TargetMissingException e) {
      throw new CheckNotRun(String.valueOf(e.getMessage()));
    }
  }

  private void skipIfNotApplicable() {
    String level = isolation.name().toLowerCase(Locale.ROOT);
    if (!isolation.isAtLeast(probe.floor())) {
      throw new CheckNotRun("isolation " + level + " does not cover this probe");
    }
    if (isolation == Isolation.PROCESS
        && probe.need() == EscapeProbe.Need.NAMESPACES
        && check.info().prerequisites().stream()
            .noneMatch(need -> need.name().contains("namespaces") && need.present())) {
      throw new CheckNotRun("isolation " + level + " covers this probe only with namespaces");
    }
    check.info().prerequisites().stream()
        .filter(need -> probe.need().isNamed(need.name()) && !need.present())
        .findFirst()
        .ifPresent(
            missing -> {
              throw new CheckNotRun("the provider reports it as missing: " + missing.detail());
            });
    if (probe.offline() && !check.info().support().networkModes().contains(NetworkMode.NONE)) {
      throw new CheckNotRun("the provider has no network mode none");
    }
  }

  /** Every attempt needs fresh targets, because it may destroy them. */
  private void control(UnaryOperator<ProbeContext> extension) throws IOException, InterruptedException {
    try (HostTargets targets = HostTargets.create(program)) {
      ProbeResult result = targets.control(probe, extension.apply(targets.context()));
      if (!result.escaped()) {
        throw new CheckNotRun("the probe does not succeed on the bare host either: " + result);
      }
    }
  }

  private Sandbox createWithProgram(UnaryOperator<SandboxSpec.Builder> with) {
    Sandbox sandbox =
        check.create(
            spec ->
                with.apply(probe.offline() ? spec.network(Network.of(NetworkMode.NONE)) : spec));
    sandbox
        .files()
        .write(
            ProbeProgram.NAME,
            FileContents.of(program.content()),
            WriteOptions.DEFAULT.withMode(0755));
    return sandbox;
  }

  private Sandbox createInFolder(Path folder) {
    try {
      return createWithProgram(spec -> spec.workspacePath(folder));
    } catch (Unsupported e) {
      throw new CheckNotRun("the provider does not support a host folder as workspace");
    }
  }

  private void attempt(Sandbox sandbox, HostTargets targets, ProbeContext context, Path folder)
      throws IOException {
    List<String> words = probe.attempt().arguments(context);
    List<Optional<String>> users = users();
    for (Optional<String> user : users) {
      EscapeVerifier verifier = new EscapeVerifier(probe, targets.context(), words, folder);
      ProbeResult printed = runProbe(sandbox, words, user);
      judge(verifier.verify(printed, answers(sandbox)), user);
    }
  }

  /** Returns root of the sandbox and an unprivileged user, if the provider supports users. */
  private List<Optional<String>> users() {
    if (!check.info().support().has(SpecFeature.USERS)) {
      return List.of(Optional.empty());
    }
    return isolation.isAtLeast(probe.rootFloor())
        ? List.of(Optional.of(ROOT), Optional.of(UNPRIVILEGED))
        : List.of(Optional.of(UNPRIVILEGED));
  }

  private ProbeResult runProbe(Sandbox sandbox, List<String> words, Optional<String> user) {
    Command command = Command.argv(PROGRAM, words).withTimeout(TIMEOUT);
    ExecResult result;
    try {
      result = sandbox.run(user.map(command::withUser).orElse(command));
    } catch (SandboxException e) {
      if (probe.evidence() == Evidence.SANDBOX) {
        return ProbeResult.got("the sandbox is lost: " + e.getMessage());
      }
      throw e;
    }
    return ProbeResult.parse(result.stdout().text())
        .orElseGet(
            () -> {
              if (!runsPrograms(sandbox)) {
                throw new CheckNotRun("the sandbox cannot run programs built for this machine");
              }
              return ProbeResult.refused("the program ended with " + result.exit());
            });
  }

  private static boolean runsPrograms(Sandbox sandbox) {
    String word = UUID.randomUUID().toString();
    try {
      ExecResult result = sandbox.run(Command.argv(PROGRAM, "echo", word).withTimeout(TIMEOUT));
      return ProbeResult.parse(result.stdout().text()).equals(Optional.of(ProbeResult.got(word)));
    } catch (SandboxException e) {
      return false;
    }
  }

  private boolean answers(Sandbox sandbox) {
    return probe.evidence() != Evidence.SANDBOX || runsPrograms(sandbox);
  }

  private void judge(ProbeResult result, Optional<String> user) {
    if (!result.escaped()) {
      return;
    }
    String who = user.map(name -> "user " + name + " ").orElse("");
    if (probe.reach() == EscapeProbe.Reach.KERNEL && isolation.isAtLeast(Isolation.KERNEL)) {
      throw new CheckNotRun(
          "the sandbox has a kernel of its own, which may allow this: " + who + result);
    }
    throw new CheckFailed("escaped: reached " + probe.target() + ": " + who + result);
  }
}
