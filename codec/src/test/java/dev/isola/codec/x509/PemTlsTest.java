package dev.isola.codec.x509;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PemTlsTest {
  @TempDir Path folder;

  private void run(String script) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("sh", "-ec", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), US_ASCII);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "openssl ecparam -name prime256v1 -genkey -noout -out key",
        "openssl ecparam -name secp384r1 -genkey -out key",
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out key",
        "openssl genrsa -traditional -out key 2048",
        "openssl genrsa -out key 2048",
        "openssl genpkey -algorithm ed25519 -out key"
      })
  void acceptsTheKeysThatOpensslWrites(String command) throws Exception {
    run(command + "; openssl req -x509 -new -key key -subj /CN=test -days 2 -out certificate");
    byte[] certificate = Files.readAllBytes(folder.resolve("certificate"));

    SSLContext context =
        PemTls.context(
            Optional.of(certificate),
            Optional.of(
                new PemTls.Identity(certificate, Files.readAllBytes(folder.resolve("key")))));

    assertThat(context.getProtocol()).isEqualTo("TLS");
  }

  @Test
  void namesWhatIsMissing() {
    byte[] nothing = "nothing".getBytes(US_ASCII);

    assertThatThrownBy(() -> PemTls.context(Optional.of(nothing), Optional.empty()))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(
            () ->
                PemTls.context(
                    Optional.empty(), Optional.of(new PemTls.Identity(nothing, nothing))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no PRIVATE KEY");
  }
}
