package dev.isola.provider.microvmctl;

import dev.isola.scripts.FileScripts;
import dev.isola.scripts.ScriptRunner;
import dev.isola.scripts.ScriptedFiles;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Files by the verbs {@code read}, {@code write} and {@code list}, and by scripts. */
final class VerbFiles extends ScriptedFiles {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration LONGEST_TRANSFER = Duration.ofHours(1);

  private final Controller controller;
  private final VmRecord record;
  private final Runnable requireExisting;

  VerbFiles(Controller controller, VmRecord record, Runnable requireExisting) {
    super(
        MicrovmctlDescription.NAME,
        record.id(),
        record.folder(),
        argv -> exec(controller, record, requireExisting, argv));
    this.controller = controller;
    this.record = record;
    this.requireExisting = requireExisting;
  }

  private static ScriptRunner.Result exec(
      Controller controller, VmRecord record, Runnable requireExisting, List<String> argv) {
    requireExisting.run();
    Controller.Result result = controller.exec(record.vm(), TIMEOUT, new byte[0], argv);
    if (result.exitCode() == ControllerErrors.OWN_FAILURE
        && ControllerErrors.reported(result.error()).isPresent()) {
      throw controller.errors().of("exec", result.exitCode(), result.error());
    }
    return new ScriptRunner.Result(result.exitCode(), result.text(), result.error());
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    statFile(path);
    ControllerProcess process = controller.read(record.vm(), absolute(path));
    return new Base64Content(process, controller.errors(), range);
  }

  /** Uploads to a temporary file, so that content that fails replaces nothing. */
  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    String target = absoluteFile(path);
    String staged = "/tmp/." + record.vm() + "/" + UUID.randomUUID();
    try {
      controller.write(record.vm(), staged, content, LONGEST_TRANSFER);
      String how = options.append() ? "append" : options.exclusive() ? "new" : "replace";
      run(
          path,
          FileScripts.PUT,
          staged,
          target,
          how,
          options.mode().map(Integer::toOctalString).orElse(""));
      return stat(path);
    } catch (SandboxException e) {
      removeStaged(staged, e);
      throw e;
    }
  }

  private void removeStaged(String staged, SandboxException why) {
    try {
      run(staged, FileScripts.DISCARD, staged);
    } catch (SandboxException e) {
      why.addSuppressed(e);
    }
  }

  @Override
  protected List<FileInfo> list(String absolute) {
    requireExisting.run();
    return new Listing(controller.errors(), absolute).parse(controller.list(record.vm(), absolute));
  }
}
