package dev.isola.provider.microvmctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.scripts.ShellWords;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Controllers that hang, flood, or answer with nonsense. */
@Timeout(120)
class HostileControllerTest {
  @TempDir Path folder;

  private Provider provider(String script) throws IOException {
    return ScriptedController.provider(
        folder.resolve("data"),
        Map.of("cli", ShellWords.quote(ScriptedController.of(folder, script).toString())));
  }

  private SandboxSpec spec(Duration startup) {
    return ScriptedController.spec(folder.resolve("work")).startupTimeout(startup).build();
  }

  @Test
  void hangingCreateEndsAtItsDeadlineAndItsProcessesAreKilled() throws Exception {
    String nap = "300." + System.nanoTime();
    try (Provider provider =
        provider("case $1 in create) sleep " + nap + " & wait ;; *) exit 0 ;; esac")) {
      assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(2))))
          .isInstanceOf(DeadlineExceeded.class)
          .hasMessageContaining("create did not end within");
      assertThat(processes(nap)).isEmpty();
      assertThat(provider.inventory()).as("kill succeeded, nothing is left").isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sleep NAP & wait|exec did not end within",
        "yes NAP PIPE tr -d '\\n'|the guest agent did not start in the sandbox",
        "echo no such program >&2; exit 127|no such program"
      })
  void agentThatDoesNotBootFailsTheCreateAndNothingIsLeft(String exec, String expected)
      throws Exception {
    String nap = "300." + System.nanoTime();
    try (Provider provider =
        provider(
            """
            case $1 in
            probe) echo '{"ok":true,"features":["exec-stdin"]}' ;;
            exec) %s ;;
            *) cat >/dev/null ;;
            esac"""
                .formatted(exec.replace("NAP", nap).replace("PIPE", "|")))) {
      assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(4))))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining(expected);
      assertThat(processes(nap)).isEmpty();
      assertThat(provider.inventory()).isEmpty();
    }
  }

  private static Stream<ProcessHandle> processes(String argument) {
    return ProcessHandle.allProcesses()
        .filter(
            one ->
                String.join(" ", one.info().arguments().orElse(new String[0])).contains(argument));
  }

  @Test
  void failedCreateWhoseKillFailsIsKeptForRecovery() throws Exception {
    try (Provider provider =
        provider("case $1 in probe) exit 0 ;; *) echo broken >&2; exit 3 ;; esac")) {
      SandboxSpec spec = spec(Duration.ofSeconds(20));
      assertThatThrownBy(() -> provider.create(spec))
          .isInstanceOf(OutcomeUnknown.class)
          .hasMessageContaining("broken");
      assertThat(provider.inventory())
          .singleElement()
          .satisfies(one -> assertThat(one.state()).isEqualTo(SandboxState.ERROR));
    }
    try (Provider recovered = provider("exit 0")) {
      assertThat(recovered.inventory()).hasSize(1);
      recovered.destroy(recovered.inventory().getFirst().id(), DestroyOptions.FORCE);
      assertThat(recovered.inventory()).isEmpty();
    }
  }

  @Test
  void lineOfJsonBecomesTheError() throws Exception {
    try (Provider provider =
        provider(
            """
            [ "$1" = create ] || exit 0
            echo '{"error":{"code":"CONFLICT","message":"it exists","remedy":"use another id"}}' >&2
            exit 125""")) {
      assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(20))))
          .isInstanceOf(Conflict.class)
          .hasMessage("it exists; use another id");
    }
  }

  @Test
  void floodOfOutputIsBounded() throws Exception {
    try (Provider provider = provider("yes | head -c 100000000")) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              health -> assertThat(health.reason()).contains("larger than"));
    }
    try (Provider provider = provider("yes | head -c 50000000 >&2; exit 4")) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class, health -> assertThat(health.reason()).hasSizeLessThan(1000));
    }
  }

  @Test
  void missingProgramIsUnhealthy() throws Exception {
    try (Provider provider =
        ScriptedController.provider(folder.resolve("data"), Map.of("cli", "/nowhere/ctl"))) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              health -> assertThat(health.reason()).contains("/nowhere/ctl cannot be started"));
      assertThatThrownBy(() -> provider.create(spec(Duration.ofSeconds(5))))
          .isInstanceOf(ProviderUnavailable.class);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"ok\":true,\"isolation\":\"container\"}|CONTAINER",
        "{\"ok\":true,\"isolation\":\"kernel\"}|KERNEL",
        "{\"ok\":true,\"isolation\":\"steel\"}|PROCESS",
        "{\"ok\":true}|VM",
        "ready|VM"
      })
  void isolationIsWhatTheProbeTells(String output, Isolation expected) throws Exception {
    try (Provider provider = provider("echo '" + output + "'")) {
      assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      assertThat(provider.info().isolation()).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"ok\":true,\"accelerated\":false}|false",
        "{\"ok\":true,\"accelerated\":true}|true",
        "{\"ok\":true,\"accelerated\":\"perhaps\"}|false",
        "{\"ok\":true}|true",
        "ready|true"
      })
  void accelerationIsWhatTheProbeTells(String output, boolean expected) throws Exception {
    try (Provider provider = provider("echo '" + output + "'")) {
      assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      assertThat(provider.info().accelerated()).isEqualTo(expected);
    }
  }

  @Test
  void probeTellsWhyNot() throws Exception {
    try (Provider provider =
        provider(
            "echo '{\"ok\":false,\"reason\":\"no KVM\",\"fix\":\"load kvm_intel\"}'; exit 1")) {
      assertThat(provider.health()).isEqualTo(new Health.Unhealthy("no KVM", "load kvm_intel"));
    }
    try (Provider provider =
        provider("echo '{\"ok\":true,\"degraded\":true,\"reason\":\"emulated\"}'")) {
      assertThat(provider.health()).isEqualTo(new Health.Degraded("emulated", ""));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "not json",
        "{}",
        "{\"entries\":3}",
        "[1]",
        "[{\"name\":\"a/b\"}]",
        "[{\"name\":\"\"}]",
        "[{}]"
      })
  void invalidListingIsAClearError(String output) {
    Listing listing =
        new Listing(
            new ControllerErrors(ControllerCommand.local(java.util.List.of("ctl"))), "/home/user");
    assertThatThrownBy(() -> listing.parse(output))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("ctl list returned an invalid result");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"name\":\"output.csv\",\"path\":\"/etc/passwd\",\"type\":\"file\",\"size\":1024}]",
        "{\"entries\":[{\"name\":\"output.csv\",\"type\":\"file\",\"size\":1024}]}"
      })
  void bothFormsOfAListingAreRead(String output) {
    Listing listing =
        new Listing(
            new ControllerErrors(ControllerCommand.local(java.util.List.of("ctl"))), "/home/user");
    assertThat(listing.parse(output))
        .singleElement()
        .satisfies(
            file -> {
              assertThat(file.path()).isEqualTo("/home/user/output.csv");
              assertThat(file.size()).isEqualTo(1024);
            });
  }
}
