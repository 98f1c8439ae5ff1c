package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.MicrovmctlProgram.Finished;
import dev.isola.codec.json.Json;
import dev.isola.testing.ssh.TestSshServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * B11: the examples of the local_microvm contract, literally, with the command that Isola ships: on
 * this machine, and through a real sshd.
 */
@Timeout(300)
@Tag("all")
class MicrovmctlCommandTest {
  @TempDir Path folder;

  @Test
  void examplesOfTheContractWork() throws Exception {
    try (MicrovmctlProgram program = MicrovmctlProgram.install(folder)) {
      requireBackend(program);
      examples(program, "");
      assertThat(program.servers()).hasSize(1);

      // A failure is one line of JSON, and the sandbox can be created again after its kill.
      Finished duplicate =
          program.shell(
              "microvmctl create --id again --ttl-ms 60000 && microvmctl create --id again --ttl-ms"
                  + " 60000; code=$?; microvmctl kill --id again && microvmctl kill --id again;"
                  + " exit $code");
      assertThat(duplicate.code()).isEqualTo(125);
      assertThat(error(duplicate)).isEqualTo("CONFLICT");
      Finished hostile =
          program.run(
              List.of(program.path().toString(), "exec", "--id", "$(x);'", "--", "true"), "");
      assertThat(hostile.code()).isEqualTo(125);
      assertThat(error(hostile)).isEqualTo("INVALID_REQUEST");
    }
  }

  @Test
  void examplesOfTheContractWorkOverSsh() throws Exception {
    TestSshServer.missing().ifPresent(why -> Assumptions.abort("NOT RUN: " + why));
    try (TestSshServer ssh = TestSshServer.start(Files.createDirectory(folder.resolve("ssh")));
        MicrovmctlProgram program = MicrovmctlProgram.install(folder)) {
      requireBackend(program);
      examples(
          program,
          "microvmctl() { ssh -T -o BatchMode=yes -F '%s' -p %d -i '%s' 127.0.0.1 -- \"$(for word in '%s' \"$@\"; do printf \"'%%s' \" \"$word\"; done)\"; }; "
              .formatted(ssh.config(), ssh.port(), ssh.key(), program.path()));
    }
  }

  private static void requireBackend(MicrovmctlProgram program) throws Exception {
    Finished probe = program.shell("microvmctl probe");
    Map<String, Object> json = Json.parseObject(probe.out().strip());
    Assumptions.assumeTrue(
        Boolean.TRUE.equals(json.get("ok")), "NOT RUN: bubblewrap: " + json.get("reason"));
    assertThat(json)
        .containsEntry("provider", "bubblewrap")
        .containsEntry("isolation", "container")
        .containsEntry("accelerated", true);
  }

  /**
   * @param prefix defines the command, if it is elsewhere
   */
  private static void examples(MicrovmctlProgram program, String prefix) throws Exception {
    Finished all =
        program.shell(
            prefix
                + """
                set -e
                microvmctl create --id vm_1 --ttl-ms 600000 >/dev/null
                microvmctl exec --id vm_1 --timeout-ms 30000 -- sh -lc "echo out; echo err >&2" </dev/null
                code=0
                microvmctl exec --id vm_1 --timeout-ms 30000 -- sh -lc "exit 7" </dev/null || code=$?
                echo "exit code $code"
                printf 'a\\000b' | microvmctl write --id vm_1 --path /home/user/file.txt
                microvmctl read --id vm_1 --path /home/user/file.txt --base64
                microvmctl list --id vm_1 --path /home/user/ --json
                code=0
                microvmctl exec --id vm_1 --timeout-ms 300 -- sleep 30 </dev/null 2>/dev/null || code=$?
                echo "exit code $code"
                echo dialogue | microvmctl exec --id vm_1 --timeout-ms 30000 -- cat
                microvmctl kill --id vm_1
                """);
    assertThat(all.out())
        .as(all.err())
        .isEqualTo(
            """
            out
            exit code 7
            YQBi
            [{"name":"file.txt","path":"/home/user/file.txt","type":"file","size":3}]
            exit code 124
            dialogue
            """);
    assertThat(all.err()).isEqualTo("err\n");
    assertThat(all.code()).isZero();
  }

  /** Returns the code in the one line of JSON. */
  private static String error(Finished finished) throws Exception {
    assertThat(finished.err().lines()).hasSize(1);
    Object error = Json.parseObject(finished.err().strip()).getOrDefault("error", Map.of());
    return error instanceof Map<?, ?> fields ? String.valueOf(fields.get("code")) : "";
  }
}
