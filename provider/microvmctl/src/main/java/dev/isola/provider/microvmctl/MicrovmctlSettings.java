package dev.isola.provider.microvmctl;

import dev.isola.scripts.ShellWords;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The settings of the provider. Every one but {@code agent} and {@code ssh_config} has a variable
 * of the contract, {@code LOCAL_MICROVM_} and its name.
 *
 * @param command the command with its transport
 * @param agent whether the guest agent runs in the sandboxes; empty if the probe decides
 */
record MicrovmctlSettings(ControllerCommand command, Optional<Boolean> agent) {
  private static final String CLI = "cli";
  private static final String TRANSPORT = "transport";
  private static final String BACKEND_CLI = "backend_cli";
  private static final String HYPERV_CLI = "hyperv_cli";
  private static final String SSH_HOST = "ssh_host";
  private static final String SSH_USER = "ssh_user";
  private static final String SSH_PORT = "ssh_port";
  private static final String SSH_KEY_PATH = "ssh_key_path";
  private static final String STRICT = "ssh_strict_host_key_checking";
  private static final String REMOTE_CLI = "remote_cli";

  private static final String DEFAULT_CLI = "microvmctl";
  private static final String LIMA_CLI = "limactl shell crucible-worker -- microvmctl";

  static final List<ProviderSetting> DECLARED =
      Stream.of(
              CLI,
              TRANSPORT,
              BACKEND_CLI,
              HYPERV_CLI,
              SSH_HOST,
              SSH_USER,
              SSH_PORT,
              SSH_KEY_PATH,
              STRICT,
              REMOTE_CLI)
          .map(
              name ->
                  new ProviderSetting(
                      name, false, Optional.of("LOCAL_MICROVM_" + name.toUpperCase(Locale.ROOT))))
          .toList();

  static MicrovmctlSettings of(ProviderConfig config) {
    return of(config, System.getProperty("os.name"));
  }

  /**
   * @param system the name of the operating system, as in the property {@code os.name}
   */
  static MicrovmctlSettings of(ProviderConfig config, String system) {
    return new MicrovmctlSettings(
        command(config, system), value(config, "agent").flatMap(MicrovmctlSettings::agent));
  }

  private static ControllerCommand command(ProviderConfig config, String system) {
    Optional<String> whole = value(config, CLI);
    if (whole.isPresent()) {
      return ControllerCommand.local(words(CLI, whole.get()));
    }
    String transport =
        value(config, TRANSPORT)
            .orElse(value(config, SSH_HOST).isPresent() ? "ssh" : "local")
            .toLowerCase(Locale.ROOT);
    return switch (transport) {
      case "local" -> {
        String standard =
            system.toLowerCase(Locale.ROOT).startsWith("mac") ? LIMA_CLI : DEFAULT_CLI;
        yield ControllerCommand.local(
            words(BACKEND_CLI, value(config, BACKEND_CLI).orElse(standard)));
      }
      case "hyperv" ->
          ControllerCommand.local(
              words(HYPERV_CLI, value(config, HYPERV_CLI).orElse("hyperv-microvmctl")));
      case "ssh" -> ssh(config);
      default -> throw invalid(TRANSPORT, "is '" + transport + "'", "use local, ssh or hyperv");
    };
  }

  private static ControllerCommand ssh(ProviderConfig config) {
    String host =
        value(config, SSH_HOST)
            .orElseThrow(
                () -> invalid(SSH_HOST, "is missing", "set it, or LOCAL_MICROVM_SSH_HOST"));
    List<String> options = new ArrayList<>();
    value(config, "ssh_config").ifPresent(file -> options.addAll(List.of("-F", file)));
    value(config, SSH_PORT)
        .ifPresent(port -> options.addAll(List.of("-p", checked(SSH_PORT, port, "[0-9]{1,5}"))));
    value(config, SSH_KEY_PATH)
        .ifPresent(key -> options.addAll(List.of("-i", key, "-o", "IdentitiesOnly=yes")));
    value(config, SSH_USER)
        .ifPresent(
            user ->
                options.addAll(
                    List.of("-l", checked(SSH_USER, user, "[A-Za-z0-9_][A-Za-z0-9_.@$-]*"))));
    boolean strict = !value(config, STRICT).orElse("true").equalsIgnoreCase("false");
    options.addAll(
        strict
            ? List.of("-o", "StrictHostKeyChecking=yes")
            : List.of("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"));
    return ControllerCommand.ssh(
        options,
        checked(SSH_HOST, host, "[A-Za-z0-9:\\[][A-Za-z0-9.:_%\\[\\]-]*"),
        words(REMOTE_CLI, value(config, REMOTE_CLI).orElse(DEFAULT_CLI)));
  }

  private static Optional<Boolean> agent(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "auto" -> Optional.empty();
      case "true" -> Optional.of(true);
      case "false" -> Optional.of(false);
      default -> throw invalid("agent", "is '" + text + "'", "use auto, true or false");
    };
  }

  private static Optional<String> value(ProviderConfig config, String name) {
    return config.get(name).map(String::strip).filter(text -> !text.isEmpty());
  }

  /** A value that begins with a dash would be an option of ssh. */
  private static String checked(String name, String value, String pattern) {
    if (!value.matches(pattern)) {
      throw invalid(name, "is '" + value + "'", "correct it");
    }
    return value;
  }

  private static List<String> words(String name, String text) {
    try {
      return ShellWords.split(text);
    } catch (IllegalArgumentException e) {
      throw invalid(name, String.valueOf(e.getMessage()), "quote it as for a shell");
    }
  }

  private static SandboxException invalid(String name, String what, String remedy) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the setting " + name + " of provider " + MicrovmctlDescription.NAME + " " + what,
            remedy)
        .exception();
  }
}
