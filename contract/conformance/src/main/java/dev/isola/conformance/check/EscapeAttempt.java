package dev.isola.conformance.check;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.NotRun;
import dev.isola.conformance.Scratch;
import dev.isola.conformance.Subject;
import dev.isola.conformance.escape.Answer;
import dev.isola.conformance.escape.HostPlant;
import dev.isola.conformance.escape.Probe;
import dev.isola.conformance.escape.Probe.Proof;
import dev.isola.conformance.escape.ProbeProgram;
import dev.isola.conformance.escape.Scene;
import dev.isola.conformance.escape.Scene.NotPlantedException;
import dev.isola.conformance.escape.Witness;
import dev.isola.spi.Destroy;
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

/** One probe against one provider: first on the bare host, then in a sandbox. */
final class EscapeAttempt {
  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final String PROGRAM = "./" + ProbeProgram.NAME;
  private static final String ROOT = "0";

  private static final String ORDINARY = "65534";

  private final Probe probe;
  private final Subject subject;
  private final Isolation isolation;
  private final ProbeProgram program;

  EscapeAttempt(Probe probe, Subject subject) {
    this.probe = probe;
    this.subject = subject;
    this.isolation = subject.info().isolation();
    this.program =
        ProbeProgram.find()
            .orElseThrow(
                () -> new NotRun("there is no " + ProbeProgram.NAME + " for this machine"));
  }

  void run() throws IOException, InterruptedException {
    refuseToRunInVain();
    try (HostPlant plant = HostPlant.make(program)) {
      switch (probe.plant()) {
        case HOST -> {
          control(scene -> scene);
          attempt(closed(spec -> spec), plant, plant.scene(), subject.underTest().data());
        }
        case NEIGHBOUR -> {
          control(scene -> scene);
          Sandbox sandbox = closed(spec -> spec);
          try (Neighbour neighbour = Neighbour.move(closed(spec -> spec))) {
            attempt(sandbox, plant, neighbour.scene(), subject.underTest().data());
          }
        }
        case INSTALLATION -> {
          Sandbox sandbox = closed(spec -> spec);
          Installation kept = Installation.of(subject.underTest().data());
          control(kept::addTo);
          attempt(sandbox, plant, kept.addTo(plant.scene()), subject.underTest().data());
        }
        case WORKSPACE -> {
          control(scene -> scene);
          try (Scratch shared = Scratch.make("isola-shared-")) {
            Sandbox sandbox = inFolder(shared.path());
            attempt(sandbox, plant, plant.scene(), shared.path());
            subject.provider().destroy(sandbox.id(), Destroy.FORCE);
          }
        }
      }
    } catch (NotPlantedException e) {
      throw new NotRun(String.valueOf(e.getMessage()));
    }
  }

  private void refuseToRunInVain() {
    String level = isolation.name().toLowerCase(Locale.ROOT);
    if (!isolation.isAtLeast(probe.floor())) {
      throw new NotRun("isolation " + level + " promises nothing here");
    }
    if (isolation == Isolation.PROCESS
        && probe.need() == Probe.Need.NAMESPACES
        && subject.info().requirements().stream()
            .noneMatch(need -> need.name().contains("namespaces") && need.present())) {
      throw new NotRun("isolation " + level + " promises this only with namespaces");
    }
    subject.info().requirements().stream()
        .filter(need -> probe.need().isCalled(need.name()) && !need.present())
        .findFirst()
        .ifPresent(
            lacking -> {
              throw new NotRun("the provider says that it has none: " + lacking.detail());
            });
    if (probe.offline() && !subject.info().support().networkModes().contains(NetworkMode.NONE)) {
      throw new NotRun("the provider has no network mode none");
    }
  }

  /** Each attempt has a plant of its own: this one may spoil it. */
  private void control(UnaryOperator<Scene> more) throws IOException, InterruptedException {
    try (HostPlant plant = HostPlant.make(program)) {
      Answer answer = plant.control(probe, more.apply(plant.scene()));
      if (!answer.gotThrough()) {
        throw new NotRun("on the bare host too it is " + answer);
      }
    }
  }

  private Sandbox closed(UnaryOperator<SandboxSpec.Builder> with) {
    Sandbox sandbox =
        subject.create(
            spec ->
                with.apply(probe.offline() ? spec.network(Network.of(NetworkMode.NONE)) : spec));
    sandbox
        .files()
        .write(
            ProbeProgram.NAME, Contents.of(program.content()), WriteOptions.DEFAULT.withMode(0755));
    return sandbox;
  }

  private Sandbox inFolder(Path folder) {
    try {
      return closed(spec -> spec.workspacePath(folder));
    } catch (Unsupported e) {
      throw new NotRun("the provider takes no folder of the caller's as workspace");
    }
  }

  private void attempt(Sandbox sandbox, HostPlant plant, Scene scene, Path folder)
      throws IOException {
    List<String> words = probe.attempt().words(scene);
    List<Optional<String>> users = users();
    for (Optional<String> user : users) {
      Witness witness = new Witness(probe, plant.scene(), words, folder);
      Answer said = say(sandbox, words, user);
      judge(witness.hear(said, answers(sandbox)), user);
    }
  }

  /** Root of the sandbox and an ordinary user, where it has users. */
  private List<Optional<String>> users() {
    if (!subject.info().support().has(SpecFeature.USERS)) {
      return List.of(Optional.empty());
    }
    return isolation.isAtLeast(probe.rootFloor())
        ? List.of(Optional.of(ROOT), Optional.of(ORDINARY))
        : List.of(Optional.of(ORDINARY));
  }

  private Answer say(Sandbox sandbox, List<String> words, Optional<String> user) {
    Command command = Command.argv(PROGRAM, words).withTimeout(PATIENCE);
    ExecResult result;
    try {
      result = sandbox.run(user.map(command::withUser).orElse(command));
    } catch (SandboxException e) {
      if (probe.proof() == Proof.SANDBOX) {
        return Answer.got("the sandbox is lost: " + e.getMessage());
      }
      throw e;
    }
    return Answer.parse(result.stdout().text())
        .orElseGet(
            () -> {
              if (!runsPrograms(sandbox)) {
                throw new NotRun("the sandbox cannot run a program of this machine");
              }
              return Answer.refused("the program ended with " + result.exit());
            });
  }

  private static boolean runsPrograms(Sandbox sandbox) {
    String word = UUID.randomUUID().toString();
    try {
      ExecResult result = sandbox.run(Command.argv(PROGRAM, "echo", word).withTimeout(PATIENCE));
      return Answer.parse(result.stdout().text()).equals(Optional.of(Answer.got(word)));
    } catch (SandboxException e) {
      return false;
    }
  }

  private boolean answers(Sandbox sandbox) {
    return probe.proof() != Proof.SANDBOX || runsPrograms(sandbox);
  }

  private void judge(Answer answer, Optional<String> user) {
    if (!answer.gotThrough()) {
      return;
    }
    String who = user.map(name -> "user " + name + " ").orElse("");
    if (probe.reach() == Probe.Reach.KERNEL && isolation.isAtLeast(Isolation.KERNEL)) {
      throw new NotRun(
          "the sandbox has a kernel of its own, which may allow this: " + who + answer);
    }
    throw new CheckFailed("a way out, to " + probe.words() + ": " + who + answer);
  }
}
