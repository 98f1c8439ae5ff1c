package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.process.OpenFile;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Programs that change the tree. */
final class FilePrograms {
  private FilePrograms() {}

  static Map<String, Program> all() {
    return Map.of(
        "touch", call -> each(call, (path, options) -> call.tree().touch(path)),
        "mkdir", FilePrograms::makeFolders,
        "rmdir", call -> each(call, (path, options) -> call.tree().remove(path, false)),
        "rm", FilePrograms::remove,
        "ls", FilePrograms::list,
        "mv", FilePrograms::move,
        "cp", FilePrograms::copy,
        "ln", FilePrograms::link,
        "chmod", FilePrograms::changeMode,
        "readlink", FilePrograms::readLink);
  }

  private interface Action {
    void on(String path, String options) throws IOException;
  }

  private static String options(Call call) {
    StringBuilder options = new StringBuilder();
    call.arguments().stream()
        .filter(FilePrograms::isOption)
        .forEach(option -> options.append(option.substring(1)));
    return options.toString();
  }

  private static boolean isOption(String argument) {
    return argument.length() > 1 && argument.startsWith("-");
  }

  private static List<String> names(Call call) {
    return call.arguments().stream().filter(argument -> !isOption(argument)).toList();
  }

  private static int each(Call call, Action action) throws IOException, InterruptedException {
    int status = 0;
    for (String name : names(call)) {
      try {
        action.on(call.path(name), options(call));
      } catch (SandboxException e) {
        status = call.complain(name, e);
      }
    }
    return status;
  }

  private static int makeFolders(Call call) throws IOException, InterruptedException {
    return each(
        call,
        (path, options) -> {
          if (!options.contains("p")) {
            if (call.tree().find(path, false).isPresent()) {
              throw new IOException("cannot create directory: File exists");
            }
            String parent = path.replaceAll("/+[^/]+/*$", "");
            call.tree().stat(parent.isEmpty() ? "/" : parent, true);
          }
          call.tree().makeFolder(path, 0755);
        });
  }

  private static int remove(Call call) throws IOException, InterruptedException {
    return each(
        call,
        (path, options) -> {
          boolean recursive = options.contains("r") || options.contains("R");
          try {
            FileInfo there = call.tree().stat(path, false);
            if (there.type() == FileType.FOLDER && !recursive) {
              throw new IOException("cannot remove: Is a directory");
            }
            call.tree().remove(path, recursive);
          } catch (SandboxException e) {
            if (e.code() != ErrorCode.FILE_NOT_FOUND || !options.contains("f")) {
              throw e;
            }
          }
        });
  }

  private static int list(Call call) throws IOException, InterruptedException {
    List<String> names = names(call);
    boolean hidden = options(call).contains("a") || options(call).contains("A");
    int status = 0;
    for (String name : names.isEmpty() ? List.of(".") : names) {
      try {
        FileInfo top = call.tree().stat(call.path(name), true);
        List<FileInfo> entries =
            top.type() == FileType.FOLDER ? call.tree().list(top.path(), 1) : List.of();
        StringBuilder text = new StringBuilder(top.type() == FileType.FOLDER ? "" : name + "\n");
        entries.stream()
            .map(entry -> Raw.of(entry.name()))
            .filter(entry -> hidden || !entry.startsWith("."))
            .forEach(entry -> text.append(entry).append('\n'));
        call.out(text.toString());
      } catch (SandboxException e) {
        status = call.complain(name, e);
      }
    }
    return status;
  }

  /** Returns where {@code name} goes: into {@code target} when that is a folder. */
  private static String destination(Call call, String name, String target) {
    String path = call.path(target);
    boolean folder =
        call.tree().find(path, true).filter(there -> there.type() == FileType.FOLDER).isPresent();
    return folder ? path + "/" + Raw.text(name.substring(name.lastIndexOf('/') + 1)) : path;
  }

  private static int move(Call call) throws IOException, InterruptedException {
    List<String> names = names(call);
    for (String name : names.subList(0, names.size() - 1)) {
      call.tree().move(call.path(name), destination(call, name, names.getLast()), true);
    }
    return 0;
  }

  private static int copy(Call call) throws IOException, InterruptedException {
    List<String> names = names(call);
    byte[] buffer = new byte[64 * 1024];
    for (String name : names.subList(0, names.size() - 1)) {
      OpenFile from = OpenFiles.forReading(call.proc(), call.path(name));
      OpenFile to =
          OpenFiles.forWriting(call.proc(), destination(call, name, names.getLast()), false);
      for (int n = from.read(buffer, 0, buffer.length);
          n >= 0;
          n = from.read(buffer, 0, buffer.length)) {
        call.proc().checkpoint();
        to.write(buffer, 0, n);
      }
    }
    return 0;
  }

  private static int link(Call call) throws IOException, InterruptedException {
    List<String> names = names(call);
    String options = options(call);
    if (!options.contains("s") || names.size() != 2) {
      return call.complain("only ln -s TARGET LINK is simulated");
    }
    String path = destination(call, names.getFirst(), names.getLast());
    if (options.contains("f") && call.tree().find(path, false).isPresent()) {
      call.tree().remove(path, false);
    }
    call.tree().makeLink(path, Raw.text(names.getFirst()));
    return 0;
  }

  private static int changeMode(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    String mode = rest.removeFirst();
    for (String name : rest) {
      String path = call.path(name);
      int now = call.tree().stat(path, true).mode();
      switch (mode) {
        case "+x", "a+x" -> call.tree().changeMode(path, now | 0111);
        case "-x", "a-x" -> call.tree().changeMode(path, now & ~0111);
        default -> call.tree().changeMode(path, Integer.parseInt(mode, 8));
      }
    }
    return 0;
  }

  private static int readLink(Call call) throws IOException, InterruptedException {
    for (String name : names(call)) {
      FileInfo info = call.tree().stat(call.path(name), false);
      if (info.linkTarget().isEmpty()) {
        return 1;
      }
      call.out(Raw.of(info.linkTarget().get()) + "\n");
    }
    return 0;
  }
}
