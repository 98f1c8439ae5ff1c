package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.Console;
import dev.isola.app.operate.DoctorCheck;
import dev.isola.app.operate.DoctorCommand;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.HostResources;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that print reports: doctor, providers, version, help, completion. */
class ReportsTest {
  @TempDir Path folder;
  private final FakeProvider good = new FakeProvider("subprocess");
  private final FakeProvider bad = new FakeProvider("bubblewrap");

  private CommandLineFixture isola() {
    bad.health = new Health.Unhealthy("no bwrap", "apt install bubblewrap");
    return new CommandLineFixture(folder.resolve("data"), good, bad);
  }

  @Test
  void doctorReportsProvidersAndFixes() {
    CommandResult called = isola().call("doctor", "-v");
    assertThat(called.code()).isZero();
    assertThat(called.out())
        .startsWith(
            "Isola can run sandboxes on this machine with subprocess (isolation: container).")
        .contains("\nMachine\nok  kernel ")
        .contains("\nTools\n", " bwrap ", " nft ")
        .contains(
            "cgroups",
            "limits",
            "freezing",
            "overlayfs",
            "seccomp",
            "network mode bridge",
            "user namespaces",
            "/dev/kvm",
            "data folder",
            "disk")
        .contains("Provider subprocess, isolation container\nok  healthy  always\n")
        .contains("no  magic    no wand (optional)\n             fix: apt install wand\n")
        .contains("no  unhealthy  no bwrap\n               fix: apt install bubblewrap\n")
        .doesNotContain("\u001b", "666");
  }

  @Test
  void doctorFirstSaysWhatWorksAndWhatToDoNext() {
    CommandResult called = isola().call("doctor");
    assertThat(called.code()).isZero();
    assertThat(called.err()).isEmpty();
    assertThat(called.out())
        .isEqualTo(
            """
            Isola can run sandboxes on this machine with subprocess (isolation: container).
            Next: isola run -- uname -a

            Providers
            ok  subprocess  container
            no  bubblewrap  container  no bwrap

            isola doctor -v prints every check, and the fix for what is missing.
            """);
  }

  @Test
  void doctorNamesTheFixOfAProviderIfNoneIsolates() {
    good.isolation = Isolation.PROCESS;
    CommandResult called = isola().call("doctor");
    assertThat(called.code()).isZero();
    assertThat(called.out())
        .startsWith(
            """
            Isola cannot isolate sandboxes on this machine: only subprocess works.
            Next: to enable bubblewrap (no bwrap): apt install bubblewrap
            """);
  }

  /** A health check boots a sandbox if there is no result of an earlier one. */
  @Test
  void doctorDiscardsTheResultsOfEarlierBoots() throws IOException {
    Path results = folder.resolve("data/subprocess/trials");
    Files.createDirectories(results.getParent());
    Files.createFile(results);
    assertThat(isola().call("providers").code()).isZero();
    assertThat(results).exists();
    assertThat(isola().call("doctor").code()).isZero();
    assertThat(results).doesNotExist();
  }

  @Test
  void doctorReportsTheResourcesOfAProvidersMachine() {
    good.resources =
        Optional.of(
            new HostResources(
                4, 8192, OptionalLong.of(2048), OptionalLong.of(90_000), OptionalLong.of(1000)));
    bad.resources = Optional.of(new HostResources(2, 1024));
    assertThat(isola().call("doctor", "-v").out())
        .contains("resources  4 processors, 8192 MB of memory (2048 free), 90000 MB of disk")
        .doesNotContain("2 processors");
    assertThat(isola().call("providers", "--json").out())
        .contains(
            "\"resources\":{\"processors\":4,\"memoryMb\":8192,\"freeMemoryMb\":2048,"
                + "\"diskMb\":90000,\"freeDiskMb\":1000}")
        .doesNotContain("\"processors\":2");
  }

  @Test
  void doctorFailsWithoutAHealthyProvider() {
    good.health = new Health.Unhealthy("ill", "rest");
    CommandResult called = isola().call("doctor");
    assertThat(called.code()).isEqualTo(1);
    assertThat(called.out())
        .startsWith(
            """
            Isola cannot run sandboxes on this machine: none of 2 providers works.
            Next: to enable bubblewrap (no bwrap): apt install bubblewrap
            """);
  }

  @Test
  void doctorReportsAnUnusableDataFolder() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    CommandResult called = isola().call("--data", file.toString(), "doctor", "-v");
    assertThat(called.code()).isEqualTo(1);
    assertThat(called.out())
        .startsWith(
            "Isola cannot run sandboxes on this machine: none of 2 providers works.\nNext: ")
        .containsPattern("\nNext: data folder: .* choose another folder with --data")
        .contains("no  data folder", "fix: choose another folder with --data or ISOLA_DATA");
    assertThat(called.err()).isEmpty();
  }

  @Test
  void doctorPrintsJson() {
    assertThat(isola().call("doctor", "--json").out())
        .startsWith(
            "{\"works\":true,\"healthy\":1,\"machine\":[{\"name\":\"kernel\",\"good\":true,")
        .contains("\"reason\":\"no bwrap\",\"fix\":\"apt install bubblewrap\"")
        .contains("\"next\":\"isola run -- uname -a\"")
        .hasLineCount(1);
  }

  /** Programs read this output: names may be added, but not removed or changed. */
  @Test
  void doctorCheckNamesAreStable() {
    String json = isola().call("doctor", "--json").out();
    assertThat(json)
        .containsSubsequence(
            "{\"works\":", ",\"healthy\":", ",\"machine\":[", ",\"tools\":[", ",\"providers\":[")
        .containsSubsequence(
            Stream.of(
                    "kernel",
                    "architecture",
                    "user",
                    "java",
                    "cgroups",
                    "limits",
                    "freezing",
                    "user namespaces",
                    "overlayfs",
                    "idmapped mounts",
                    "seccomp",
                    "network mode bridge",
                    "/dev/kvm",
                    "memory",
                    "data folder",
                    "disk",
                    "bwrap",
                    "crun",
                    "runc",
                    "runsc",
                    "proot",
                    "docker",
                    "podman",
                    "git",
                    "unshare",
                    "skopeo",
                    "mmdebstrap",
                    "newuidmap",
                    "debootstrap",
                    "zstd",
                    "xz",
                    "ip",
                    "tc",
                    "nft",
                    "nsenter",
                    "slirp4netns")
                .map(name -> "{\"name\":\"" + name + "\",\"good\":")
                .toList());
    assertThat(json).contains("\"warning\":false,\"value\":\"", "\"fix\":\"");
  }

  @Test
  void doctorWrapsToTheTerminalWidth() {
    CommandLineFixture isola = isola();
    bad.health = new Health.Unhealthy("no bwrap", "ask the administrator to install it");
    isola.interactive = new CliEnvironment.TtyStatus(false, true, false);
    isola.env.put("COLUMNS", "45");
    assertThat(isola.call("--color", "never", "doctor", "-v").out())
        .contains(
            """
            ✗  unhealthy  no bwrap
                          fix: ask the administrator to
                          install it
            """);
  }

  @Test
  void doctorPrintsASharedFixOnce() {
    CliEnvironment host =
        new CliEnvironment(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            OutputStream.nullOutputStream(),
            CliEnvironment.TtyStatus.NONE,
            Map.of(),
            List.of());
    List<DoctorCheck> facts =
        List.of(
            DoctorCheck.bad("limits", "none", "be root"),
            DoctorCheck.bad("freezing", "none", "be root"),
            DoctorCheck.warning("runc", "old", "look at it"),
            DoctorCheck.good("crun", "new"));
    assertThat(DoctorCommand.section(new Console(host, false, false, "auto"), "Facts", facts))
        .isEqualTo(
            """
            Facts
            no  limits    none
            no  freezing  none
                          fix: be root
            !!  runc      old
                          look at it
            ok  crun      new
            """);
  }

  @Test
  void colorFollowsTheOptionAndTheEnvironment() {
    CommandLineFixture isola = isola();
    assertThat(isola.call("doctor", "--color", "always").out()).contains("\u001b[32m✓\u001b[0m");
    isola.interactive = new CliEnvironment.TtyStatus(true, true, true);
    assertThat(isola.call("doctor").out()).contains("\u001b[31m✗\u001b[0m");
    assertThat(isola.call("doctor", "--color", "never").out())
        .contains("✓", "✗")
        .doesNotContain("\u001b");
    isola.env.put("NO_COLOR", "1");
    assertThat(isola.call("doctor").out()).doesNotContain("\u001b");
  }

  @Test
  void providersPrintsATable() {
    assertThat(isola().call("providers").out())
        .isEqualTo(
            """
            NAME        STATUS     ISOLATION  STARTUP  ENFORCES    CAPABILITIES
            bubblewrap  unhealthy  container  ~1 ms    cpu,memory  attaching,terminals
            subprocess  healthy    container  ~1 ms    cpu,memory  attaching,terminals
            """);
  }

  @Test
  void providersPrintsAllDetailsAsJson() {
    assertThat(isola().call("providers", "--json").out())
        .startsWith("{\"providers\":[{\"name\":\"bubblewrap\"")
        .contains(
            "{\"name\":\"subprocess\",\"healthy\":true,\"detail\":\"always\","
                + "\"summary\":\"for tests\",\"apiVersion\":\"v2\",\"isolation\":\"container\","
                + "\"accelerated\":true,\"capabilities\":[\"attaching\",\"terminals\"],"
                + "\"forks\":[],\"snapshots\":[],"
                + "\"enforcedLimits\":[\"cpu\",\"memory\"],\"images\":false,\"users\":true,"
                + "\"networkModes\":[\"none\"],\"volumeTypes\":[\"bind\"],"
                + "\"cleanup\":\"in memory\",\"startupMs\":1,\"requirements\":[{");
  }

  @Test
  void emulatedProvidersAreListedAsSuch() {
    good.isolation = Isolation.VM;
    good.emulated = true;
    assertThat(isola().call("providers").out()).contains("vm (emulated)");
    assertThat(isola().call("providers", "--json").out()).contains("\"accelerated\":false");
    CommandLineFixture controller = isola();
    controller.env.put("ISOLA_MICROVMCTL_BACKEND", "subprocess");
    assertThat(controller.call("microvmctl", "probe").out()).contains("\"accelerated\":false");
    assertThat(isola().call("doctor").out())
        .startsWith(
            "Isola can isolate sandboxes on this machine only with emulated processors, which are"
                + " slow: isola run --provider subprocess.\n")
        .contains("vm (emulated)");
  }

  @Test
  void eachProviderIsCreatedOnce() {
    isola().call("doctor");
    assertThat(good.made).isEqualTo(1);
  }

  @Test
  void helpIsPrintedOnStdout() {
    for (String words : new String[] {"", "--help", "help", "-h"}) {
      CommandResult called = words.isEmpty() ? isola().call() : isola().call(words);
      assertThat(called.code()).isZero();
      assertThat(called.out())
          .startsWith("Usage: isola ")
          .contains("doctor")
          .doesNotContain("train");
    }
    String run = isola().call("run", "--help").out();
    assertThat(run).contains("Exit codes:", "124 ", "--tty");
    assertThat(isola().call("help", "run").out()).isEqualTo(run);
  }

  @Test
  void versionCommandAndOptionsPrintTheSame() {
    String version = isola().call("version").out();
    assertThat(version).startsWith("isola ").contains("Java 25").hasLineCount(1);
    assertThat(isola().call("--version").out()).isEqualTo(version);
    assertThat(isola().call("-V").out()).isEqualTo(version);
    assertThat(isola().call("--json", "--version").out()).startsWith("{\"version\":\"");
  }

  @Test
  void completionScriptsListTheCommands() {
    assertThat(isola().call("completion").out())
        .isEqualTo(isola().call("completion", "bash").out());
    for (String shell : List.of("bash", "zsh", "fish")) {
      assertThat(isola().call("completion", shell).out())
          .contains(" doctor ", " inspect ", " complete -- ", "completion " + shell)
          .doesNotContain("train", "@COMMANDS@");
    }
    CommandResult other = isola().call("completion", "tcsh");
    assertThat(other.code()).isEqualTo(2);
    assertThat(other.err()).contains("'tcsh'", "use bash, zsh or fish");
  }

  @Test
  void trainingRunIsSilentAndLeavesNoState() {
    CommandResult called = isola().call("train");
    assertThat(called.code()).isZero();
    assertThat(called.out() + called.err()).isEmpty();
    assertThat(good.specs).isNotEmpty();
    assertThat(folder.resolve("data")).doesNotExist();
  }
}
