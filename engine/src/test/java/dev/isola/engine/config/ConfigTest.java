package dev.isola.engine.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.isola.engine.admission.DiskHeadroom;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.api.health.ProbeSchedule;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderSetting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigTest {
  @TempDir Path folder;
  private Path file = Path.of("");
  private final Map<String, String> environment = new HashMap<>();
  private final List<FlagValue> flags = new ArrayList<>();
  private Optional<Path> given = Optional.empty();

  @BeforeEach
  void name() {
    file = folder.resolve("isola.yaml");
  }

  private void write(String yaml) throws IOException {
    given = Optional.of(Files.writeString(file, yaml));
  }

  private void flag(String key, String value) {
    flags.add(new FlagValue("--set " + key, key, value));
  }

  private ConfigResult read() {
    return ConfigReader.read(sources());
  }

  private ConfigInput sources() {
    return new ConfigInput(
        new MachineInfo(8192, 4, Path.of("/var/lib/isola")),
        given,
        environment,
        flags,
        List.of("test", "bubblewrap", "docker", "gvisor"),
        Map.of(
            "e2b", List.of(ProviderSetting.secret("api_key").withVariable("E2B_API_KEY")),
            "docker", List.of(ProviderSetting.secret("pin"))));
  }

  private Config config() {
    return read().orThrow();
  }

  private static ProviderSettings of(Map<String, ProviderSettings> providers, String name) {
    return providers.getOrDefault(name, ProviderSettings.defaults(name));
  }

  private List<String> problems() {
    return read() instanceof ConfigResult.Invalid(List<ConfigProblem> problems)
        ? problems.stream().map(ConfigProblem::toString).toList()
        : List.of();
  }

  @Test
  void everyKeyHasADefault() {
    Config config = config();
    assertThat(config.policy()).isEqualTo(SelectionPolicy.DEFAULT);
    assertThat(config.probeSchedule()).isEqualTo(ProbeSchedule.DEFAULT);
    assertThat(config.capacity())
        .as("the sum of limits is not bounded")
        .isEqualTo(new Resources(Resources.UNLIMITED, Resources.UNLIMITED));
    assertThat(config.headroom(DiskHeadroom.UNCHECKED).overcommit()).isEqualTo(4);
    assertThat(config.get(ConfigKeys.SHUTDOWN)).isEqualTo(ShutdownAction.LEAVE);
    assertThat(config.get(ConfigKeys.STORE_URL)).isEmpty();
    assertThat(config.get(ConfigKeys.DATA)).isEqualTo(Path.of("/var/lib/isola"));
    assertThat(config.entries()).hasSize(ConfigKeys.ALL.size());
    assertThat(config.entries())
        .allMatch(entry -> entry.origin().equals(new ValueOrigin.Default()));
    assertThat(config.warnings()).isEmpty();
  }

  @Test
  void keysOfOpenIdConnectKeepTheirOrder() throws IOException {
    write(
        """
        oidc:
          issuer: https://login.example.org/realms/staff
          client_id: isola
          client_secret: hunter2
          scopes: [groups, openid]
          claim: groups
          keys:
            zeta: ops
            anna@example.org: team
            7: seven
        """);
    Config config = config();
    assertThat(config.get(ConfigKeys.OIDC_KEYS))
        .containsExactly(
            Map.entry("zeta", "ops"),
            Map.entry("anna@example.org", "team"),
            Map.entry("7", "seven"));
    assertThat(config.get(ConfigKeys.OIDC_SCOPES)).containsExactly("openid", "groups");
    assertThat(config.toString())
        .contains("zeta=ops,anna@example.org=team")
        .doesNotContain("hunter2");
    environment.put("ISOLA_OIDC_KEYS", "staff");
    assertThat(problems()).singleElement().asString().contains("must be VALUE=KEY");
    environment.put("ISOLA_OIDC_KEYS", "a=b=ops, c = team ");
    assertThat(config().get(ConfigKeys.OIDC_KEYS))
        .containsExactly(Map.entry("a=b", "ops"), Map.entry("c", "team"));
    assertThat(config().forPrivateServer(folder).get(ConfigKeys.OIDC_ISSUER)).isEmpty();
  }

  @Test
  void invalidSettingsOfOpenIdConnectAreRejectedWithoutTheSecret() throws IOException {
    write(
        """
        oidc:
          issuer: http://login.example.org
          client_secret: [hunter2]
          scopes: 'a"b'
          keys: {staff: no such name}
          public_url: https://isola.example.org?x
        """);
    assertThat(problems()).hasSize(5).noneMatch(problem -> problem.contains("hunter2"));
    write("oidc: {issuer: 'http://localhost:8080/realm'}");
    assertThat(problems())
        .hasSize(2)
        .anyMatch(problem -> problem.contains("oidc.client_id"))
        .anyMatch(problem -> problem.contains("oidc.keys"));
    write("oidc: {issuer: 'http://localhost.example.org', client_id: x, keys: {a: b}}");
    assertThat(problems()).singleElement().asString().contains("https://");
  }

  @Test
  void flagsOverrideEnvironmentOverridesFile() throws IOException {
    write(
        """
        floor: vm
        shutdown: drain
        health:
          interval: 1m
        deployment_mode: managed
        """);
    environment.put("ISOLA_FLOOR", "kernel");
    environment.put("ISOLA_HEALTH_INTERVAL", "45");
    environment.put("ISOLA_DEPLOYMENT_MODE", "");
    flag("floor", "container");
    Config config = config();
    assertThat(config.get(ConfigKeys.FLOOR)).isEqualTo(Isolation.CONTAINER);
    assertThat(config.origin(ConfigKeys.FLOOR)).isEqualTo(new ValueOrigin.Flag("--set floor"));
    assertThat(config.get(ConfigKeys.HEALTH_INTERVAL)).isEqualTo(Duration.ofSeconds(45));
    assertThat(config.origin(ConfigKeys.HEALTH_INTERVAL).description())
        .isEqualTo("environment ISOLA_HEALTH_INTERVAL");
    assertThat(config.get(ConfigKeys.SHUTDOWN)).isEqualTo(ShutdownAction.DRAIN);
    assertThat(config.origin(ConfigKeys.SHUTDOWN)).isEqualTo(new ValueOrigin.File(file, 2));
    assertThat(config.get(ConfigKeys.DEPLOYMENT_MODE))
        .as("an empty variable counts as unset")
        .isEqualTo(DeploymentMode.MANAGED);
  }

  @Test
  void domainOfE2bClientsHasTwoPartsAndNoPort() {
    flag("e2b.domain", "E2B.localhost");
    assertThat(config().get(ConfigKeys.E2B_DOMAIN)).contains("e2b.localhost");
    for (String wrong :
        List.of(
            "localhost",
            "e2b.localhost:7777",
            "https://e2b.localhost",
            "*.e2b.localhost",
            "../e2b.localhost",
            "e2b..localhost",
            "-e2b.localhost",
            "192.0.2.1",
            "a.".repeat(120) + "example")) {
      flags.clear();
      flag("e2b.domain", wrong);
      assertThat(problems()).as(wrong).singleElement().asString().contains("e2b.domain");
    }
  }

  @Test
  void acceptsEnvironmentVariablesOfOtherSystems() {
    environment.put("SANDBOX_PROVIDER", "local_microvm");
    environment.put("E2B_API_KEY", "e2b_secret");
    environment.put("LOCAL_MICROVM_FALLBACK_TO_REMOTE", "0");
    assertThat(config().get(ConfigKeys.MICROVM_FALLBACK)).as("enabled unless false").isTrue();
    environment.put("LOCAL_MICROVM_FALLBACK_TO_REMOTE", "False");
    Config config = config();
    assertThat(config.get(ConfigKeys.PROVIDER)).isEqualTo("microvmctl");
    assertThat(of(config.providers(), "e2b").config().get("api_key")).contains("e2b_secret");
    assertThat(config.policy().microvmToRemote()).isFalse();
    environment.put("ISOLA_PROVIDER", "auto");
    environment.put("SANDBOX_PROVIDER", "remote_e2b");
    assertThat(config().get(ConfigKeys.PROVIDER))
        .as("the variable of Isola takes precedence")
        .isEqualTo("auto");
  }

  @Test
  void passesSettingsToProviders() throws IOException {
    write(
        """
        providers:
          e2b:
            api_key: 0123
            domain: eu
          bubblewrap:
            enabled: false
        """);
    environment.put("ISOLA_PROVIDERS_E2B_DOMAIN", "us");
    environment.put("ISOLA_PROVIDERS_TEST_FAULT", "create-races");
    flag("providers.bubblewrap.tmp", "/x");
    Map<String, ProviderSettings> providers = config().providers();
    assertThat(of(providers, "e2b").config())
        .isEqualTo(new ProviderConfig(Map.of("api_key", "0123", "domain", "us")));
    assertThat(of(providers, "test").config().get("fault")).contains("create-races");
    assertThat(of(providers, "bubblewrap").enabled()).isFalse();
    assertThat(of(providers, "bubblewrap").config().get("tmp")).contains("/x");
  }

  @Test
  void readsProviderInstances() throws IOException {
    write(
        """
        provider: docker-east
        pool:
          - provider: docker-west
            size: 1
        providers:
          docker-east:
            type: docker
            region: east
            host: tcp://east:2376
          docker-west: {type: docker, host: "tcp://west:2376", enabled: false}
          docker:
            region: here
        """);
    environment.put("ISOLA_PROVIDERS_DOCKER_EAST_HOST", "tcp://east:2377");
    flag("providers.docker-north.type", "docker");
    flag("providers.docker-north.host", "tcp://north:2376");
    Config config = config();
    ProviderSettings east = of(config.providers(), "docker-east");
    assertThat(east.type()).isEqualTo("docker");
    assertThat(east.region()).contains("east");
    assertThat(east.config()).isEqualTo(new ProviderConfig(Map.of("host", "tcp://east:2377")));
    assertThat(of(config.providers(), "docker-west").enabled()).isFalse();
    assertThat(of(config.providers(), "docker-north").type()).isEqualTo("docker");
    assertThat(of(config.providers(), "docker-north").config().get("host"))
        .contains("tcp://north:2376");
    assertThat(of(config.providers(), "docker").type()).isEqualTo("docker");
    assertThat(of(config.providers(), "docker").region()).contains("here");
    assertThat(config.pool().getFirst().provider()).isEqualTo("docker-west");
    assertThat(config.warnings()).isEmpty();
    assertThat(config.entries())
        .extracting(Config.Entry::key, Config.Entry::value)
        .contains(
            tuple("providers.docker-east.type", "docker"),
            tuple("providers.docker-east.region", "east"));
  }

  @Test
  void readsInstanceCapacity() throws IOException {
    write(
        """
        providers:
          docker-east: {type: docker, capacity_cpu: 7.5, capacity_memory_mb: 16384}
          docker-west: {type: docker, capacity_cpu: 0}
          docker: {enabled: true}
        """);
    assertThat(problems())
        .singleElement()
        .asString()
        .contains("providers.docker-west.capacity_cpu must be from 0.1 to 1000000: 0.0");
    write(
        """
        providers:
          docker-east: {type: docker, capacity_cpu: 7.5, capacity_memory_mb: 16384}
          docker-west: {type: docker, host: "tcp://west:2376"}
        """);
    environment.put("ISOLA_PROVIDERS_DOCKER_WEST_CAPACITY_MEMORY_MB", "4096");
    Config config = config();
    assertThat(config.capacities())
        .isEqualTo(
            Map.of(
                "docker-east",
                Resources.of(7.5, 16384),
                "docker-west",
                new Resources(4096, Resources.UNLIMITED)));
    assertThat(of(config.providers(), "docker-east").config())
        .as("not passed to the provider")
        .isEqualTo(ProviderConfig.EMPTY);
    assertThat(config.entries())
        .extracting(Config.Entry::key, Config.Entry::value)
        .contains(
            tuple("providers.docker-east.capacity_cpu", "7.5"),
            tuple("providers.docker-east.capacity_memory_mb", "16384"),
            tuple("providers.docker-west.capacity_memory_mb", "4096"));
  }

  @Test
  void usesDeclaredVariablesAndSecrets() throws IOException {
    write("providers: {docker-east: {type: docker, pin: '1234', host: 'tcp://east:2376'}}");
    environment.put("E2B_API_KEY", "hunter2");
    environment.put("OTHER_API_KEY", "ignored");
    Config config = config();
    assertThat(of(config.providers(), "e2b").config())
        .isEqualTo(new ProviderConfig(Map.of("api_key", "hunter2")));
    assertThat(config.entries())
        .extracting(Config.Entry::key, Config.Entry::value)
        .contains(
            tuple("providers.docker-east.pin", "***"),
            tuple("providers.docker-east.host", "tcp://east:2376"),
            tuple("providers.e2b.api_key", "***"));
  }

  @Test
  void rejectsInvalidInstances() throws IOException {
    write(
        """
        providers:
          docker-east: {type: dokcer}
          nameless: {host: x}
          gvisor: {type: docker}
          ../../etc: {type: docker}
          auto: {type: docker}
          Upper: {type: docker}
          west: {type: docker, region: "a b"}
        """);
    String at = file + ":";
    String name =
        " is not a valid instance name: use at most 40 lower-case letters, digits and dashes, such"
            + " as docker-east";
    assertThat(problems())
        .containsExactly(
            at
                + "2: providers.docker-east.type is not a provider type: dokcer, did you mean"
                + " 'docker'?; known types: bubblewrap, docker, e2b, gvisor, microvmctl, test",
            at
                + "3: providers names no provider: nameless; to define an instance with this"
                + " name, set its type",
            at
                + "4: providers.gvisor is the name of a provider type; choose another name for the"
                + " instance",
            at + "5: providers.../../etc" + name,
            at + "6: providers.auto" + name,
            at + "7: providers.Upper" + name,
            at
                + "8: providers.west.region must be 1 to 63 letters, digits, dots, dashes and"
                + " underscores: a b");
  }

  @Test
  void readsWarmPool() throws IOException {
    write(
        """
        pool:
          - spec: {image: python, resources: {memory: 512}}
            provider: bubblewrap
            size: 3
          - size: 1
        """);
    List<PoolConfig> pool = config().pool();
    assertThat(pool).hasSize(2);
    assertThat(pool.getFirst().request().spec().image()).contains("python");
    assertThat(pool.getFirst().request().spec().limits().memoryMb()).isEqualTo(512);
    assertThat(pool.getFirst().provider()).isEqualTo("bubblewrap");
    assertThat(pool.getLast().provider()).isEqualTo("auto");
    assertThat(pool.getLast().size()).isEqualTo(1);
  }

  @Test
  void reportsTwentyProblemsTogetherWithTheirOrigins() throws IOException {
    write(
        """
        provider: gvisr
        deploymentmode: managed
        floor: process-ish
        allow_process: maybe
        health:
          interval: 10ms
          intervall: 30s
          timeout: soon
        expiry: 5
        reconcile:
          interval: [30s]
        admission:
          memory_mb: 1.5
          cpu: lots
          queue_timeout: 2d
        memory_mb: 4096
        shutdown: leeve
        store:
          url: mysql://root:hunter2@db/x
        data: 17
        providers:
          dokcer:
            kernel: /k
          e2b: yes please
          test:
            fault: [a, b]
        pool:
          - spec: {imag: python}
            size: -1
          - provider: docker
        """);
    environment.put("ISOLA_SHUTDOWN", "now");
    environment.put("ISOLA_PROVIDERS_NOBODY_KEY", "hunter2");
    flag("flor", "vm");
    flag("pool", "none");
    String at = file + ":";
    List<String> problems = problems();
    assertThat(problems)
        .containsExactly(
            at + "2: deploymentmode is not a key, did you mean 'deployment_mode'?",
            at
                + "3: floor must be process, container, kernel or vm: process-ish, did you mean"
                + " 'process'?",
            at + "4: allow_process must be true or false: maybe",
            at + "6: health.interval must be from 1s to 1h: 10ms",
            at + "7: health.intervall is not a key, did you mean 'interval'?",
            at + "8: health.timeout must be a time such as 500ms, 30s or 1h30m: soon",
            at + "9: expiry must be a section with interval, not a number",
            at + "11: reconcile.interval must be a time such as 30s, not a list",
            at + "13: admission.memory_mb must be a whole number: 1.5",
            at + "14: admission.cpu must be a number: lots",
            at + "15: admission.queue_timeout must be from 0s to 1h: 2d",
            at + "16: memory_mb is not a key, but admission.memory_mb is",
            at + "17: shutdown must be drain or leave: leeve, did you mean 'leave'?",
            at + "19: store.url must begin with sqlite: or postgresql:",
            at + "20: data must be a string, not a number",
            at
                + "22: providers names no provider: dokcer, did you mean 'docker'?; to define an"
                + " instance with this name, set its type",
            at + "24: providers.e2b must be a section with settings, not a string",
            at + "26: providers.test.fault must be a string, a number or a flag, not a list",
            at + "29: pool[0].size must be from 0 to 10000: -1",
            at + "28: pool[0].spec.imag is not a field, did you mean 'image'?",
            at + "30: pool[1].size is missing",
            "environment ISOLA_SHUTDOWN: shutdown must be drain or leave: now",
            "environment ISOLA_PROVIDERS_NOBODY_KEY: providers names no provider; known:"
                + " bubblewrap, docker, e2b, gvisor, microvmctl, test",
            "flag --set flor: flor is not a key, did you mean 'floor'?",
            "flag --set pool: pool can be set only in the configuration file",
            at + "1: provider names no provider: gvisr, did you mean 'gvisor'?");
    assertThat(problems).hasSizeGreaterThan(20).noneMatch(one -> one.contains("hunter2"));
    assertThatThrownBy(this::config)
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContainingAll(problems.toArray(new String[0]));
  }

  @Test
  void neverDisplaysSecrets() throws IOException {
    write(
        """
        store: {url: "postgresql://isola:hunter2@db/isola?sslpassword=hunter2&ssl=true"}
        providers: {e2b: {api_key: hunter2, domain: e2b.dev}}
        pool: [{size: 1, spec: {env: {TOKEN: hunter2}}}]
        """);
    environment.put("E2B_API_KEY", "hunter2");
    flag("providers.e2b.token", "hunter2");
    Config config = config();
    assertThat(
            config.toString() + config.entries() + config.providers() + config.pool() + sources())
        .doesNotContain("hunter2")
        .contains("postgresql://***@db/isola?sslpassword=***&ssl=true", "e2b.dev");
    assertThat(of(config.providers(), "e2b").config().get("api_key")).contains("hunter2");
  }

  @Test
  void doesNotQuoteAMalformedFile() throws IOException {
    write("providers:\n  e2b:\n    api_key: \"hunter2\n");
    assertThat(problems())
        .singleElement()
        .satisfies(
            one ->
                assertThat(one)
                    .startsWith(file + ":")
                    .contains("is not valid YAML")
                    .doesNotContain("hunter2"));
    write("floor: vm\nfloor: vm\n");
    assertThat(problems()).singleElement().asString().contains("duplicate key floor");
    write("- a\n- b\n");
    assertThat(problems()).containsExactly(file + ":1: must contain keys and values, not a list");
    write("a: !!java.io.File [x]\n");
    assertThat(problems()).hasSize(1);
    write("a: &a [x]\nb: &b [*a, *a]\n" + "c: ".repeat(1) + "[".repeat(40) + "]".repeat(40) + "\n");
    assertThat(problems()).containsExactly(file + ":1: is nested deeper than 20 levels");
  }

  @Test
  void acceptsAnEmptyFileAndRejectsAMissingOne() throws IOException {
    write("# nothing yet\nhealth:\nfloor:\nproviders:\n  e2b:\npool:\n");
    assertThat(config().policy()).isEqualTo(SelectionPolicy.DEFAULT);
    given = Optional.of(folder.resolve("none.yaml"));
    assertThat(problems()).containsExactly(folder.resolve("none.yaml") + ":1: does not exist");
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 'a'});
    given = Optional.of(file);
    assertThat(problems()).containsExactly(file + ":1: is not UTF-8");
  }

  @Test
  void warnsAboutProbablyUnintendedSettings() {
    environment.put("ISOLA_FLOR", "vm");
    environment.put("ISOLA_PORT_80_TCP", "tcp://10.0.0.1:80");
    environment.put("ISOLA_DEBUG", "1");
    environment.put("ISOLA_ALLOW_PROCESS", "true");
    environment.put("ISOLA_DEPLOYMENT_MODE", "managed");
    environment.put("ISOLA_PROVIDER", "local_microvm");
    assertThat(config().warnings())
        .containsExactly(
            "ISOLA_FLOR is unknown and ignored, did you mean ISOLA_FLOOR?",
            "allow_process has no effect unless floor is process",
            "provider is local_microvm, which is not installed");
  }

  @Test
  void checksCombinationsOfValues() {
    flag("health.timeout", "40s");
    assertThat(problems())
        .containsExactly(
            "flag --set health.timeout: health.timeout must not be longer than health.interval");
  }

  @Test
  void readsDurationsInAnyUnit() throws InvalidValueException {
    DurationType times = new DurationType(Duration.ZERO, Duration.ofDays(400));
    assertThat(times.read("1h30m")).isEqualTo(Duration.ofMinutes(90));
    assertThat(times.read("1.5s")).isEqualTo(Duration.ofMillis(1500));
    assertThat(times.read(7)).isEqualTo(Duration.ofSeconds(7));
    assertThat(times.read("2d")).isEqualTo(Duration.ofDays(2));
    for (String text : List.of("0s", "500ms", "1h30m", "2d3h4m5s6ms")) {
      assertThat(times.show(times.read(text))).isEqualTo(text);
    }
    for (String wrong : List.of("", "s", "-1s", "1 s", "1y", "1e9", "99999999999")) {
      assertThatThrownBy(() -> times.read(wrong)).isInstanceOf(InvalidValueException.class);
    }
  }
}
