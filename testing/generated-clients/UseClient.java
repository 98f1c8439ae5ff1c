import dev.isola.generated.ApiClient;
import dev.isola.generated.ApiException;
import dev.isola.generated.api.ExecutionsApi;
import dev.isola.generated.api.FilesApi;
import dev.isola.generated.api.SandboxesApi;
import dev.isola.generated.model.CreateSandboxRequest;
import dev.isola.generated.model.ExecRequest;
import dev.isola.generated.model.ExecResult;
import dev.isola.generated.model.FileInfo;
import dev.isola.generated.model.Sandbox;
import dev.isola.generated.model.SandboxState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Uses the generated Java client: create, exec, files, destroy. Fails with an exception. */
public final class UseClient {
  private UseClient() {}

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("ISOLA_URL"));
    client.setBearerToken(System.getenv("ISOLA_API_KEY"));
    SandboxesApi sandboxes = new SandboxesApi(client);
    FilesApi files = new FilesApi(client);

    Sandbox sandbox =
        sandboxes.createSandbox(
            null, new CreateSandboxRequest().ttlSeconds(300.0).tags(Map.of("made-by", "java")));
    check(sandbox.getState() == SandboxState.RUNNING, sandbox);
    check(
        sandboxes.listSandboxes(List.of("made-by=java"), null, null, null, null, 10, null).getSandboxes().stream()
            .map(Sandbox::getId)
            .collect(Collectors.toList())
            .equals(List.of(sandbox.getId())),
        "the list");

    ExecResult result =
        new ExecutionsApi(client)
            .exec(sandbox.getId(), new ExecRequest().command("echo hello; exit 3"));
    check(result.getStdout().equals("hello\n") && result.getExitCode() == 3, result);

    byte[] content = {'b', 'y', 't', 'e', 's', 0, (byte) 0xff};
    Path local = Files.createTempFile("isola-client", ".bin");
    try {
      Files.write(local, content);
      FileInfo written =
          files.writeFile(
              sandbox.getId(), "data/a.bin", "0600", null, null, null, local.toFile());
      check(written.getSize() == content.length && written.getMode().equals("0600"), written);
    } finally {
      Files.delete(local);
    }
    Path read = files.readFile(sandbox.getId(), "data/a.bin", null).toPath();
    check(Arrays.equals(Files.readAllBytes(read), content), read);
    Files.delete(read);
    check(
        files.listFiles(sandbox.getId(), "data", null, null).getEntries().get(0).getName()
            .equals("a.bin"),
        "the folder");

    sandboxes.destroySandbox(sandbox.getId(), null);
    try {
      sandboxes.getSandbox("missing");
      throw new IllegalStateException("a missing sandbox was found");
    } catch (ApiException e) {
      check(e.getCode() == 404 && e.getResponseBody().contains("SANDBOX_NOT_FOUND"), e);
    }
    System.out.println(
        "java: created "
            + sandbox.getId()
            + " on "
            + sandbox.getProvider()
            + "; exec, files and destroy work");
  }

  private static void check(boolean ok, Object what) {
    if (!ok) {
      throw new IllegalStateException("unexpected: " + what);
    }
  }
}
