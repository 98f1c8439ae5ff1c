package dev.isola.provider.microvmctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.provider.ProviderConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MicrovmctlSettingsTest {
  private static ControllerCommand command(String system, Map<String, String> settings) {
    return MicrovmctlSettings.of(new ProviderConfig(settings), system).command();
  }

  @Test
  void everyVariableOfTheContractSetsASetting() {
    assertThat(new MicrovmctlProviderFactory().settings())
        .extracting(setting -> setting.variable().orElse(""))
        .containsExactlyInAnyOrder(
            "LOCAL_MICROVM_CLI",
            "LOCAL_MICROVM_TRANSPORT",
            "LOCAL_MICROVM_BACKEND_CLI",
            "LOCAL_MICROVM_HYPERV_CLI",
            "LOCAL_MICROVM_SSH_HOST",
            "LOCAL_MICROVM_SSH_USER",
            "LOCAL_MICROVM_SSH_PORT",
            "LOCAL_MICROVM_SSH_KEY_PATH",
            "LOCAL_MICROVM_SSH_STRICT_HOST_KEY_CHECKING",
            "LOCAL_MICROVM_REMOTE_CLI");
  }

  @Test
  void defaultDependsOnTheSystem() {
    assertThat(command("Linux", Map.of()).line(List.of("probe")))
        .containsExactly("microvmctl", "probe");
    assertThat(command("Mac OS X", Map.of()).line(List.of("probe")))
        .containsExactly("limactl", "shell", "crucible-worker", "--", "microvmctl", "probe");
    assertThat(command("Windows 11", Map.of("transport", "hyperv")).line(List.of("probe")))
        .containsExactly("hyperv-microvmctl", "probe");
  }

  @Test
  void hostSelectsSshUnlessATransportIsSet() {
    assertThat(command("Linux", Map.of("ssh_host", "farm")).host()).isEqualTo(Optional.of("farm"));
    assertThat(command("Linux", Map.of("ssh_host", "farm", "transport", "local")).host()).isEmpty();
    assertThat(command("Linux", Map.of("ssh_host", "farm", "cli", "my ctl")).line(List.of("probe")))
        .containsExactly("my", "ctl", "probe");
  }

  @Test
  void sshHasItsOptionsAndQuotesEveryWord() {
    ControllerCommand command =
        command(
            "Linux",
            Map.of(
                "ssh_host", "10.0.0.7",
                "ssh_user", "ubuntu",
                "ssh_port", "2222",
                "ssh_key_path", "/keys/a b",
                "remote_cli", "sudo microvmctl"));
    List<String> line = command.line(List.of("kill", "--id", "it's"));
    assertThat(line).startsWith("ssh", "-T", "-o", "BatchMode=yes");
    assertThat(line).containsSequence("-p", "2222").containsSequence("-i", "/keys/a b");
    assertThat(line).containsSequence("-l", "ubuntu").contains("StrictHostKeyChecking=yes");
    assertThat(line.subList(line.size() - 3, line.size()))
        .containsExactly("10.0.0.7", "--", "'sudo' 'microvmctl' 'kill' '--id' 'it'\\''s'");
  }

  @Test
  void strictCheckingIsOnUnlessFalse() {
    assertThat(
            command("Linux", Map.of("ssh_host", "h", "ssh_strict_host_key_checking", "0"))
                .transport())
        .contains("StrictHostKeyChecking=yes");
    assertThat(
            command("Linux", Map.of("ssh_host", "h", "ssh_strict_host_key_checking", "False"))
                .transport())
        .contains("StrictHostKeyChecking=no");
  }

  @ParameterizedTest
  @CsvSource({
    "transport, carrier-pigeon",
    "ssh_host, -oProxyCommand=touch",
    "ssh_user, -oProxyCommand=touch",
    "ssh_port, 22x",
    "agent, maybe",
    "cli, a\"b"
  })
  void invalidValueIsRejectedByName(String name, String value) {
    Map<String, String> settings =
        name.equals("ssh_host") ? Map.of(name, value) : Map.of("ssh_host", "h", name, value);
    assertThatThrownBy(() -> MicrovmctlSettings.of(new ProviderConfig(settings), "Linux"))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining(name);
  }

  @Test
  void sshNeedsAHost() {
    assertThatThrownBy(() -> command("Linux", Map.of("transport", "ssh")))
        .hasMessageContaining("LOCAL_MICROVM_SSH_HOST");
  }
}
