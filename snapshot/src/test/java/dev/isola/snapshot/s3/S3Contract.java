package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.snapshot.Samples;
import dev.isola.snapshot.blob.Blobs;
import dev.isola.snapshot.blob.BlobsContract;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What holds on every server that speaks S3. */
abstract class S3Contract extends BlobsContract {
  private static final int MANY = Boolean.getBoolean("isola.long") ? 1_100 : 0;

  private final String prefix = "test/" + HexFormat.of().toHexDigits(new Random().nextLong()) + "/";

  abstract S3Server server();

  @Override
  protected Blobs place() {
    return new S3Blobs(server().config(prefix), Clock.systemUTC());
  }

  @Test
  void holdsAStoreOfSnapshots() throws IOException {
    Samples.fillAndEmpty(
        () -> new S3Blobs(server().config("store" + prefix), Clock.systemUTC()), folder);
  }

  @Test
  void theBucketMayBePartOfTheHostsName() throws IOException {
    S3Blobs blobs = new S3Blobs(server().byHost("host" + prefix), Clock.systemUTC());
    try (blobs;
        Blobs.Claim claim = blobs.claim(Files.createDirectories(folder.resolve("host")))) {
      blobs.put("packs/a", Files.write(folder.resolve("one"), "by name".getBytes(UTF_8)));
      assertThat(claim).isNotNull();
    }
    try (S3Blobs same = new S3Blobs(server().config("host" + prefix), Clock.systemUTC())) {
      assertThat(same.list("packs")).containsExactly("packs/a");
      assertThat(same.read("packs/a", 3, 4)).isEqualTo("name".getBytes(UTF_8));
    }
  }

  @Test
  void aKilledOwnerIsNotInItsOwnWay() throws IOException {
    Path work = Files.createDirectories(folder.resolve("mine"));
    S3Blobs killed = new S3Blobs(server().config("killed" + prefix), Clock.systemUTC());
    Blobs.Claim left = killed.claim(work); // which is never given back
    assertThat(left).isNotNull();
    try (S3Blobs next = new S3Blobs(server().config("killed" + prefix), Clock.systemUTC())) {
      next.claim(work).close();
    }
    killed.close();
  }

  @Test
  void aWrongKeyIsToldWithoutSecrets() throws IOException {
    S3Config good = server().config(prefix);
    S3Config bad =
        new S3Config(
            good.endpoint(),
            good.region(),
            good.bucket(),
            good.prefix(),
            true,
            good.accessKey(),
            Secret.of("canary-that-is-wrong"),
            Optional.empty());
    try (S3Blobs blobs = new S3Blobs(bad, Clock.systemUTC())) {
      assertThatThrownBy(() -> blobs.list("packs"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("403")
          .hasMessageContaining("SignatureDoesNotMatch")
          .message()
          .doesNotContain("canary");
    }
    Clock late = Clock.offset(Clock.systemUTC(), Duration.ofDays(1));
    try (S3Blobs blobs = new S3Blobs(good, late)) {
      assertThatThrownBy(() -> blobs.list("packs")).hasMessageContaining("clock");
    }
  }

  @Test
  void aBucketThatIsNotThereIsNamed() {
    S3Config good = server().config(prefix);
    S3Config none =
        new S3Config(
            good.endpoint(),
            good.region(),
            "no-such-bucket",
            good.prefix(),
            true,
            good.accessKey(),
            good.secretKey(),
            Optional.empty());
    try (S3Blobs blobs = new S3Blobs(none, Clock.systemUTC())) {
      assertThatThrownBy(() -> blobs.claim(folder))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("NoSuchBucket")
          .hasMessageContaining("s3://no-such-bucket");
    }
  }

  @Test
  void listsMoreThanAPage() throws IOException {
    S3Blobs blobs = new S3Blobs(server().config("many" + prefix), Clock.systemUTC());
    try (blobs;
        Blobs.Claim claim = blobs.claim(Files.createDirectories(folder.resolve("many")))) {
      Path file = Files.write(folder.resolve("one"), "x".getBytes(UTF_8));
      for (int i = 0; i < Math.max(3, MANY); i++) {
        blobs.put("packs/p" + i, file);
      }
      assertThat(blobs.list("packs")).hasSize(Math.max(3, MANY)).doesNotHaveDuplicates().isSorted();
      assertThat(claim).isNotNull();
    }
  }
}
