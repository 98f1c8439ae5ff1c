package dev.isola.snapshot.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Secret;
import dev.isola.spi.error.InvalidRequest;
import java.net.URI;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3ConfigTest {
  private static final Map<String, String> KEYS =
      Map.of("access_key", "me", "secret_key", "canary-9f1c");

  @Test
  void settingsPrecedeTheEnvironment() {
    S3Config config =
        S3Config.of(
            "s3://bucket-1/some/where",
            Map.of("endpoint", "http://127.0.0.1:9000", "access_key", "me"),
            Map.of(
                "AWS_ACCESS_KEY_ID",
                "not me",
                "AWS_SECRET_ACCESS_KEY",
                "secret",
                "AWS_SESSION_TOKEN",
                "token",
                "AWS_REGION",
                "eu-west-3"));
    assertThat(config)
        .isEqualTo(
            new S3Config(
                URI.create("http://127.0.0.1:9000"),
                "eu-west-3",
                "bucket-1",
                "some/where/",
                true,
                "me",
                Secret.of("secret"),
                Optional.of(Secret.of("token"))));
  }

  @Test
  void endpointDefaultsToAws() {
    S3Config config = S3Config.of("s3://bucket", KEYS, Map.of());
    assertThat(config.endpoint()).isEqualTo(URI.create("https://s3.us-east-1.amazonaws.com"));
    assertThat(config.pathStyle()).isFalse();
    assertThat(config.prefix()).isEmpty();
  }

  /** The signature covers the Host header as sent, which omits a default port. */
  @ParameterizedTest
  @CsvSource({
    "https://host, host, bucket.host",
    "https://host:443, host, bucket.host",
    "http://host:80, host, bucket.host",
    "https://host:80, host:80, bucket.host:80",
    "http://[::1]:9000, [::1]:9000, bucket.[::1]:9000",
  })
  void namesTheHost(String endpoint, String byPath, String byHost) {
    Map<String, String> settings = new HashMap<>(KEYS);
    settings.put("endpoint", endpoint);
    assertThat(S3Config.of("s3://bucket", settings, Map.of()).host()).isEqualTo(byPath);
    settings.put("addressing", "host");
    assertThat(S3Config.of("s3://bucket", settings, Map.of()).host()).isEqualTo(byHost);
  }

  @Test
  void toStringRevealsNoSecret() {
    S3Config config =
        S3Config.of("s3://bucket/prefix", KEYS, Map.of("AWS_SESSION_TOKEN", "canary-9f1c"));
    try (S3BlobStore blobs = new S3BlobStore(config, Clock.systemUTC())) {
      assertThat(config + " " + blobs).contains("bucket").doesNotContain("canary");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "s3://UPPER, '', ''",
    "s3://b, '', ''",
    "s3:///prefix, '', ''",
    "file:///tmp, '', ''",
    "'s3://bu cket', '', ''",
    "s3://bucket/a/../b, '', ''",
    "s3://bucket, endpoint, ftp://host",
    "s3://bucket, endpoint, https://user:canary@host",
    "s3://bucket, endpoint, https://host/bucket",
    "s3://bucket, endpoint, 'not an address'",
    "s3://bucket, region, 'EU (Paris)'",
    "s3://bucket, addressing, virtual",
  })
  void refusesWhatCannotBe(String url, String key, String value) {
    Map<String, String> settings = new HashMap<>(KEYS);
    settings.put(key, value);
    assertThatThrownBy(() -> S3Config.of(url, settings, Map.of()))
        .isInstanceOf(InvalidRequest.class)
        .message()
        .doesNotContain("canary");
  }

  @Test
  void credentialsAreRequired() {
    assertThatThrownBy(() -> S3Config.of("s3://bucket", Map.of(), Map.of()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("AWS_ACCESS_KEY_ID");
  }
}
