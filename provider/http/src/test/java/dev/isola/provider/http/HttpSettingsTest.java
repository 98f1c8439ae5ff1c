package dev.isola.provider.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.link.InstallationKey;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpSettingsTest {
  @TempDir private Path folder;

  private HttpProvider provider(Map<String, String> settings) {
    return new HttpProvider(
        HttpSettings.of(new ProviderConfig(settings)),
        new ProviderContext(new InstanceId("test"), folder, InstantSource.system()));
  }

  @Test
  void withoutAnAddressTheProviderSaysWhatToSet() {
    try (HttpProvider provider = provider(Map.of())) {
      assertThat(provider.health())
          .isEqualTo(
              new Health.Unhealthy(
                  "no backend is configured",
                  "set providers.http.url to the address of the backend"));
      assertThat(provider.inventory()).isEmpty();
      assertThatThrownBy(() -> provider.create(SandboxSpec.builder(new SandboxId("box")).build()))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE));
    }
  }

  @Test
  void anAddressWithoutABackendIsUnhealthyAndNothingIsUnknown() {
    try (HttpProvider provider = provider(Map.of("url", "http://127.0.0.1:1", "key", "secret"))) {
      assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
      assertThatThrownBy(() -> provider.create(SandboxSpec.builder(new SandboxId("box")).build()))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
                assertThat(e.getMessage()).doesNotContain("secret");
              });
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nothing",
        "ftp://host",
        "http://",
        "http://user:password@host",
        "http://host/?a=b",
        "http://host/#x",
        "http:// host"
      })
  void invalidAddressesAreRefused(String url) {
    assertThatThrownBy(() -> provider(Map.of("url", url)))
        .hasMessageContaining("the setting url of provider http is not valid");
  }

  @Test
  void aKeyThatBreaksAHeaderIsRefusedAndNotPrinted() {
    assertThatThrownBy(() -> provider(Map.of("url", "http://host", "key", "sec\r\nret: 1")))
        .hasMessageContaining("the setting key")
        .hasMessageNotContaining("sec");
  }

  @Test
  void theSecretsOfSandboxesAreDerivedFromOnePrivateFile() throws IOException {
    InstallationKey first = InstallationKey.in(folder);
    InstallationKey second = InstallationKey.in(folder);
    SandboxId id = new SandboxId("box");
    assertThat(first.secretOf(id)).isEqualTo(second.secretOf(id));
    assertThat(first.secretOf(id)).isNotEqualTo(first.secretOf(new SandboxId("other")));
    assertThat(first.secretOf(id).reveal()).hasSize(32);
    assertThat(Files.getPosixFilePermissions(folder.resolve("key")))
        .extracting(Enum::name)
        .containsExactlyInAnyOrder("OWNER_READ", "OWNER_WRITE");
    try (var files = Files.list(folder)) {
      assertThat(files).hasSize(1);
    }
  }
}
