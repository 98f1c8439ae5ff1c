package dev.isola.provider.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.kit.ConformanceKit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * B9: the kit finds a backend that declares more than it does. Each case is a copy of a reference
 * backend with a planted fault; the check that finds it passes, or is not run, on the original.
 */
@Tag("all")
class DishonestBackendTest {
  /**
   * A planted fault.
   *
   * @param check the id of the check that finds it
   * @param original the outcome of that check on the backend without the fault
   * @param edits pairs of text and replacement
   */
  record Fault(
      String name, String backend, String check, CheckResult.Outcome original, List<String> edits) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static final Set<String> SLOW =
      Set.of(
          "Pausing.nothingRunsDuringAMemoryPause",
          "Honesty.aRenewedDeadlineIsKept",
          "Lifecycle.ttlEndsTheSandboxWithItsCommands");

  private static Fault simple(
      String name, String check, CheckResult.Outcome original, String... edits) {
    return new Fault(name, "simple_backend.py", check, original, List.of(edits));
  }

  private static Fault channel(String name, String check, String... edits) {
    return new Fault(
        name, "channel_backend.py", check, CheckResult.Outcome.NOT_RUN, List.of(edits));
  }

  private static String route(String method, String path, String body) {
    return "ROUTES = [\n    (\"%s\", BOX + \"%s\", lambda self, name: %s),"
        .formatted(method, path, body);
  }

  static Stream<Fault> faults() {
    String capabilities = "\"capabilities\": [\"renewing\"]";
    CheckResult.Outcome passed = CheckResult.Outcome.PASSED;
    CheckResult.Outcome notRun = CheckResult.Outcome.NOT_RUN;
    return Stream.of(
        channel(
            "pausing that does not pause",
            "Pausing.nothingRunsDuringAMemoryPause",
            capabilities,
            "\"capabilities\": [\"renewing\", \"pausing\"], \"pauseKinds\": [\"memory\"]",
            "ROUTES = [",
            route("POST", "/pause", "self.answer(204)")
                + route("POST", "/resume", "self.answer(204)").substring("ROUTES = [".length())),
        channel(
            "a memory limit that is not enforced",
            "Limits.memoryIsLimited",
            capabilities,
            capabilities + ", \"limits\": [\"memory\"]"),
        channel(
            "a sandbox without a network that has one",
            "Honesty.aSandboxWithoutANetworkHasOnlyItsOwnLoopback",
            "\"networkModes\": [\"host\"]",
            "\"networkModes\": [\"host\", \"none\"]"),
        channel(
            "users that are ignored",
            "Exec.commandRunsAsItsUser",
            capabilities,
            capabilities + ", \"features\": [\"users\"]"),
        channel(
            "forks without the files of their source",
            "Forking.forksStartWithTheFilesOfTheForkPoint",
            capabilities,
            "\"capabilities\": [\"renewing\", \"forking\"]",
            "ROUTES = [",
            route("POST", "/fork-points", "self.answer(201, {\"id\": \"p\", \"frozenMs\": 0})")
                + "\n    (\"DELETE\", \"/v1/fork-points/(.*)\","
                + " lambda self, point: self.answer(204)),"),
        simple(
            "usage that is invented",
            "Honesty.usageIsMeasured",
            notRun,
            capabilities,
            "\"capabilities\": [\"renewing\", \"usage-reporting\"]",
            "ROUTES = [",
            route(
                "GET",
                "/usage",
                "self.answer(200, {\"cpuMs\": 7, \"memoryBytes\": 1, \"memoryPeakBytes\": 1,"
                    + " \"processes\": 1, \"uptimeMs\": 5})")),
        simple(
            "isolation that hides no process",
            "Honesty.theClaimedIsolationHidesTheHostsProcesses",
            notRun,
            "\"isolation\": \"process\"",
            "\"isolation\": \"container\"",
            "\"--unshare-pid\", ",
            ""),
        simple(
            "a renewal that is ignored",
            "Honesty.aRenewedDeadlineIsKept",
            passed,
            "sandbox.record[\"deadline\"] = time.time() + json",
            "ignored = json"),
        simple(
            "a destroy that destroys nothing",
            "Lifecycle.destroyRemovesItFromTheInventory",
            passed,
            "        SANDBOXES.destroy(name)\n        self.answer(204)",
            "        self.answer(204)"),
        simple(
            "a ttl that is not kept",
            "Lifecycle.ttlEndsTheSandboxWithItsCommands",
            passed,
            "if deadline and deadline < time.time():",
            "if False:"),
        simple(
            "secret variables that are dropped",
            "SecretEnv.secretVariablesReachEveryCommand",
            passed,
            "**spec.get(\"secretEnv\", {}),",
            ""),
        simple(
            "a timeout that counts as success",
            "Limits.commandsWithoutATimeoutGetTheDefault",
            passed,
            "self.document[\"timedOut\"] = True",
            "self.document[\"exitCode\"] = 0"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void theKitFindsIt(Fault fault) throws Exception {
    BackendProcess.require("python3");
    Assumptions.assumeTrue(
        !SLOW.contains(fault.check()) || Boolean.getBoolean("isola.long"),
        "NOT RUN: takes 20 s; ./check --long runs it");
    CheckCase check =
        ConformanceKit.checks().stream()
            .filter(one -> one.id().equals(fault.check()))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no check " + fault.check()));
    Path original = Path.of("backends", fault.backend());
    assertThat(run(original, check).outcome()).as("the original").isEqualTo(fault.original());
    Path folder = Files.createTempDirectory("isola-fault");
    try {
      CheckResult result = run(planted(original, fault, folder), check);
      assertThat(result.outcome()).as(result.toString()).isEqualTo(CheckResult.Outcome.FAILED);
    } finally {
      TemporaryFolder.remove(folder);
    }
  }

  private static Path planted(Path original, Fault fault, Path folder) throws IOException {
    String text = Files.readString(original);
    for (int i = 0; i < fault.edits().size(); i += 2) {
      assertThat(text).contains(fault.edits().get(i));
      text = text.replace(fault.edits().get(i), fault.edits().get(i + 1));
    }
    return Files.writeString(folder.resolve(fault.backend()), text);
  }

  private static CheckResult run(Path program, CheckCase check) throws Exception {
    try (BackendProcess backend = BackendProcess.start(List.of("python3", program.toString()))) {
      ProviderUnderTest underTest = backend.underTest("dishonest");
      try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
        return runner.run(check);
      } finally {
        TemporaryFolder.remove(underTest.data());
      }
    }
  }
}
