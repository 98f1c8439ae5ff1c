package dev.isola.engine.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SandboxLeasesTest {
  private static final SandboxId ID = new SandboxId("box");

  @TempDir Path data;

  /** Acquires a lease in a separate process and holds it until the process ends. */
  public static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws IOException {
      SandboxLease lease = new SandboxLeases(Path.of(args[0])).acquire(new SandboxId(args[1]), "p");
      System.out.println("holds " + lease.id());
      int end = System.in.read();
      if (end == 'c') {
        lease.close();
      }
    }
  }

  private Process holder() throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                data.toString(),
                ID.value())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader out = process.inputReader();
    assertThat(out.readLine()).isEqualTo("holds " + ID);
    return process;
  }

  private List<SandboxLeases.LapsedLease> recovered() {
    List<SandboxLeases.LapsedLease> lapsed = new ArrayList<>();
    new SandboxLeases(data).recover(lapsed::add);
    return lapsed;
  }

  @Test
  void leaseLapsesWhenItsProcessIsKilled() throws Exception {
    SandboxLeases leases = new SandboxLeases(data);
    Process holder = holder();
    try {
      assertThat(leases.held(ID)).isTrue();
      assertThat(leases.held()).containsExactly(ID);
      assertThat(recovered()).as("a held lease is not recovered").isEmpty();
      assertThat(leases.held(ID)).as("checking does not release it").isTrue();
    } finally {
      holder.destroyForcibly().waitFor();
    }
    assertThat(leases.held(ID)).isFalse();
    leases.recover(lapsed -> false);
    assertThat(recovered()).containsExactly(new SandboxLeases.LapsedLease(ID, "p"));
    assertThat(recovered()).as("deleted when nothing of the sandbox is left").isEmpty();
    assertThat(data.resolve("leases")).isEmptyDirectory();
  }

  @Test
  void closedLeaseLeavesNoFileBehind() throws Exception {
    Process holder = holder();
    holder.getOutputStream().write('c');
    holder.getOutputStream().flush();
    assertThat(holder.waitFor()).isZero();
    assertThat(new SandboxLeases(data).held(ID)).isFalse();
    assertThat(data.resolve("leases")).isEmptyDirectory();
  }

  @Test
  void ownLeaseIsHeldUntilItIsClosed() {
    SandboxLeases leases = new SandboxLeases(data);
    assertThat(leases.held()).isEmpty();
    try (SandboxLease lease = leases.acquire(ID, "p")) {
      assertThat(lease.id()).isEqualTo(ID);
      assertThat(new SandboxLeases(data).held(ID)).isTrue();
      assertThat(recovered()).isEmpty();
    }
    assertThat(leases.held(ID)).isFalse();
  }

  @Test
  void unreadableLeaseCountsAsHeld() throws IOException {
    SandboxLeases leases = new SandboxLeases(data);
    leases.acquire(ID, "p").close();
    Path elsewhere = Files.createFile(data.resolve("elsewhere"));
    Files.createSymbolicLink(data.resolve("leases").resolve(ID.value()), elsewhere);
    assertThat(leases.held(ID)).isTrue();
    assertThat(recovered()).isEmpty();
    assertThat(elsewhere).exists();
  }

  @Test
  void onlyTheFolderOwnerCanListLeases() throws IOException {
    try (SandboxLease lease = new SandboxLeases(data).acquire(ID, "p")) {
      Path folder = data.resolve("leases");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
          .isEqualTo("rwx------");
      assertThat(Files.getOwner(folder)).isEqualTo(Files.getOwner(data));
      assertThat(folder.resolve(lease.id().value())).isRegularFile();
    }
  }

  @Test
  void unusableDataFolderIsAnError() throws IOException {
    Files.createFile(data.resolve("leases"));
    assertThatThrownBy(() -> new SandboxLeases(data).acquire(ID, "p"))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("leases")
        .hasMessageContaining("--data");
  }
}
