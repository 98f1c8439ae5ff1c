package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.FILES;

import dev.isola.conformance.escape.EscapeProbe.Evidence;
import dev.isola.conformance.escape.EscapeProbe.TargetLocation;
import java.util.ArrayList;
import java.util.List;

/** Probes of host files, except those that are world-readable anyway, such as programs. */
final class FileProbes {
  private static final String FOLDER = "isola-probe-folder";

  private FileProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        reading("secretInTmpIsNotRead", "tmp", "a file in the host's /tmp"),
        reading("secretInVarTmpIsNotRead", "var-tmp", "a file in the host's /var/tmp"),
        reading("secretInHomeIsNotRead", "home", "a file in the home folder of the server's user"),
        reading("secretInRunIsNotRead", "run", "a file in the host's /run"),
        reading("secretInEtcIsNotRead", "etc-secret", "a file of an unknown service in /etc"),
        reading("secretInDevShmIsNotRead", "shm", "a file in the host's /dev/shm"),
        comparing("passwordsAreNotRead", "passwords", "the host's password hashes"),
        comparing("privateKeysAreNotRead", "keys", "private keys of the host and of its user"),
        EscapeProbe.of(
                "plantedNamesAreNotFound", FILES, "a target file, anywhere", FileProbes::find)
            .withControl(context -> List.of("find", context.id(), context.one("scratch"))),
        EscapeProbe.of(
                "dataFolderIsNotRead",
                FILES,
                "the provider's data about its sandboxes, including secrets",
                context -> with("open", context.all("installation")))
            .withLocation(TargetLocation.INSTALLATION)
            .fromProcess()
            .withNeed(EscapeProbe.Need.NAMESPACES),
        writing("fileInTmpIsNotChanged", "tmp", "a file in the host's /tmp"),
        writing("fileInHomeIsNotChanged", "home", "a file in the user's home folder"),
        writing("fileInDevShmIsNotChanged", "shm", "a file in the host's /dev/shm"),
        writing("nothingIsMadeInEtc", "etc", "a new file in the host's /etc"),
        writing("nothingIsMadeInUsr", "usr", "a new file in the host's /usr"),
        setuid("setuidFilesAreNotTheHostsRoot"),
        setuid("setuidFilesAreNotTheHostsRootInAFolderOfTheCaller")
            .withLocation(TargetLocation.WORKSPACE),
        EscapeProbe.of(
            "fileIsNotOpenedByItsHandle",
            FILES,
            "a file by its handle, bypassing paths",
            context ->
                List.of("handle", context.one("handle-type"), context.one("handle"), context.id())),
        EscapeProbe.of(
            "secondChrootDoesNotLeadOut",
            FILES,
            "the host's root, by a second chroot",
            context -> List.of("chroot", FOLDER, context.one("tmp"), context.id())));
  }

  private static EscapeProbe reading(String name, String place, String target) {
    return EscapeProbe.of(
        name, FILES, target, context -> List.of("read", context.one(place), context.id()));
  }

  private static EscapeProbe comparing(String name, String fact, String target) {
    return EscapeProbe.of(name, FILES, target, context -> with("digest", context.all(fact)));
  }

  private static EscapeProbe writing(String name, String place, String target) {
    return EscapeProbe.of(
            name, FILES, target, context -> List.of("write", context.one(place), context.id()))
        .withEvidence(Evidence.FILE);
  }

  private static EscapeProbe setuid(String name) {
    return EscapeProbe.of(
            name,
            FILES,
            "a set-user-id root program on the host",
            context -> List.of("setuid-file", context.mark() + "-setuid"))
        .withEvidence(Evidence.SETUID);
  }

  private static List<String> find(ProbeContext context) {
    List<String> target = new ArrayList<>(List.of("find", context.id()));
    target.addAll(context.all("folders"));
    target.add("/");
    return target;
  }

  static List<String> with(String first, List<String> rest) {
    List<String> target = new ArrayList<>(List.of(first));
    target.addAll(rest);
    return target;
  }
}
