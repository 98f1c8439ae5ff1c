package dev.isola.engine.api.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.engine.FakeClock;
import dev.isola.engine.FakeLog;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.testing.provider.TestProviderFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProviderRegistryTest {
  @TempDir Path folder;
  private final FakeLog log = new FakeLog();
  private final FakeClock clock = new FakeClock();

  /** A factory that cannot create a provider. */
  private record BrokenFactory(String name, Error error) implements ProviderFactory {
    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      throw error;
    }
  }

  /** A factory that cannot return its name. */
  private static final class NamelessFactory implements ProviderFactory {
    @Override
    public String name() {
      throw new IllegalStateException("I forgot");
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      throw new IllegalStateException();
    }
  }

  private ProviderRegistry open(
      Map<String, ProviderSettings> settings, Iterable<ProviderFactory> factories) {
    return ProviderRegistry.open(
        factories,
        settings,
        name -> new ProviderContext(new InstanceId("test"), folder, clock),
        clock,
        log);
  }

  private Map<String, ProviderSettings> settings(String yaml) throws Exception {
    Path file = Files.writeString(folder.resolve("isola.yaml"), yaml);
    MachineInfo machine = new MachineInfo(1024, 2, folder);
    Config config =
        ConfigReader.read(
                new ConfigInput(
                    machine, Optional.of(file), Map.of(), List.of(), List.of("good", "test")))
            .orThrow();
    return config.providers();
  }

  @Test
  void failingFactoryDoesNotAffectOthers() {
    FakeProvider good = new FakeProvider("good");
    try (ProviderRegistry registry =
        open(
            Map.of(),
            List.of(
                new BrokenFactory("broken", new NoClassDefFoundError("com/example/Missing")),
                new NamelessFactory(),
                good))) {
      assertThat(registry.get("good").info()).isEqualTo(good.info());
      assertThat(registry.providers()).containsOnlyKeys("good");
      assertThat(registry.unavailable())
          .extracting(ProviderStatus::name)
          .containsExactly("broken", NamelessFactory.class.getName());
      assertThat(registry.unavailable().getFirst().health().toString())
          .contains("could not be created: java.lang.NoClassDefFoundError: com/example/Missing");
      assertThatThrownBy(() -> registry.get("broken"))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("com/example/Missing");
    }
    assertThat(good.closed).isTrue();
  }

  @Test
  void invalidServiceEntryDoesNotAffectOthers() {
    FakeProvider good = new FakeProvider("good");
    Iterable<ProviderFactory> loader =
        () ->
            new Iterator<>() {
              private int at;

              @Override
              public boolean hasNext() {
                return at < 2;
              }

              @Override
              public ProviderFactory next() {
                at++;
                if (at == 1) {
                  throw new ServiceConfigurationError(
                      "dev.isola.spi.provider.ProviderFactory: Provider com.example.Gone not"
                          + " found");
                }
                if (at > 2) {
                  throw new NoSuchElementException();
                }
                return good;
              }
            };
    try (ProviderRegistry registry = open(Map.of(), loader)) {
      assertThat(registry.names()).containsExactly("com.example.Gone", "good");
    }
  }

  @Test
  void findsProvidersOnTheClassPath() {
    try (ProviderRegistry registry =
        ProviderRegistry.open(
            Map.of(),
            name -> new ProviderContext(new InstanceId("test"), folder, clock),
            clock,
            log)) {
      assertThat(registry.names()).contains("subprocess").doesNotContain("test");
      assertThat(registry.get("subprocess").health().healthy()).isTrue();
    }
  }

  @Test
  void passesSettingsAndSkipsDisabledProviders() throws Exception {
    FakeProvider good = new FakeProvider("good");
    Map<String, ProviderSettings> settings =
        settings("providers: {good: {socket: /run/x, retries: 007}, test: {enabled: false}}");
    try (ProviderRegistry registry = open(settings, List.of(good, new TestProviderFactory()))) {
      assertThat(good.config)
          .isEqualTo(new ProviderConfig(Map.of("socket", "/run/x", "retries", "007")));
      assertThatThrownBy(() -> registry.get("test"))
          .hasMessage(
              "provider test is disabled by the configuration; set providers.test.enabled: true");
    }
  }

  @Test
  void createsInstancesWithSeparateSettingsFoldersAndIds() throws Exception {
    Map<String, ProviderSettings> settings =
        settings(
            "providers: {good: {socket: /a}, east: {type: good, socket: /b, region: eu},"
                + " west: {type: good}}");
    List<ProviderConfig> configs = new ArrayList<>();
    List<ProviderContext> contexts = new ArrayList<>();
    ProviderFactory factory =
        new ProviderFactory() {
          @Override
          public String name() {
            return "good";
          }

          @Override
          public Provider create(ProviderConfig config, ProviderContext context) {
            configs.add(config);
            contexts.add(context);
            return new FakeProvider("good");
          }
        };
    try (ProviderRegistry registry =
        ProviderRegistry.open(
            List.of(factory),
            settings,
            name -> new ProviderContext(new InstanceId("test"), folder.resolve(name), clock),
            clock,
            log)) {
      assertThat(registry.names()).containsExactly("east", "good", "west");
      assertThat(configs)
          .containsExactly(
              new ProviderConfig(Map.of("socket", "/b")),
              new ProviderConfig(Map.of("socket", "/a")),
              ProviderConfig.EMPTY);
      assertThat(contexts)
          .extracting(ProviderContext::dataFolder)
          .containsExactly(
              folder.resolve("instances/east"),
              folder.resolve("good"),
              folder.resolve("instances/west"));
      assertThat(contexts).extracting(ProviderContext::instance).doesNotHaveDuplicates();
      assertThat(contexts.get(1).instance()).isEqualTo(new InstanceId("test"));
      assertThat(registry.get("east").info().name()).isEqualTo("east");
      assertThat(registry.instances().get("east"))
          .isEqualTo(
              new ProviderInstance(
                  "east", "good", Optional.of("eu"), false, ProviderProfile.UNKNOWN));
    }
    assertThat(log.warnings).isEmpty();
  }

  @Test
  void unknownNameSuggestsASimilarOne() {
    try (ProviderRegistry registry = open(Map.of(), List.of(new FakeProvider("bubblewrap")))) {
      assertThatThrownBy(() -> registry.get("bublewrap"))
          .isInstanceOf(NotFound.class)
          .hasMessageContaining("did you mean bubblewrap?");
    }
    ProviderRegistry _ =
        open(
            Map.of("goood", ProviderSettings.defaults("goood")), List.of(new FakeProvider("good")));
    assertThat(log.warnings)
        .containsExactly(
            "there are settings for goood, but no provider of that name, did you mean 'good'?");
  }
}
