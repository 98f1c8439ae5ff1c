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
            .withControl(scene -> List.of("find", scene.id(), scene.one("scratch"))),
        EscapeProbe.of(
                "dataFolderIsNotRead",
                FILES,
                "the provider's data about its sandboxes, including secrets",
                scene -> with("open", scene.all("installation")))
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
            scene -> List.of("handle", scene.one("handle-type"), scene.one("handle"), scene.id())),
        EscapeProbe.of(
            "secondChrootDoesNotLeadOut",
            FILES,
            "the host's root, by a second chroot",
            scene -> List.of("chroot", FOLDER, scene.one("tmp"), scene.id())));
  }

  private static EscapeProbe reading(String name, String place, String words) {
    return EscapeProbe.of(
        name, FILES, words, scene -> List.of("read", scene.one(place), scene.id()));
  }

  private static EscapeProbe comparing(String name, String fact, String words) {
    return EscapeProbe.of(name, FILES, words, scene -> with("digest", scene.all(fact)));
  }

  private static EscapeProbe writing(String name, String place, String words) {
    return EscapeProbe.of(
            name, FILES, words, scene -> List.of("write", scene.one(place), scene.id()))
        .withEvidence(Evidence.FILE);
  }

  private static EscapeProbe setuid(String name) {
    return EscapeProbe.of(
            name,
            FILES,
            "a set-user-id root program on the host",
            scene -> List.of("setuid-file", scene.mark() + "-setuid"))
        .withEvidence(Evidence.SETUID);
  }

  private static List<String> find(ProbeContext scene) {
    List<String> words = new ArrayList<>(List.of("find", scene.id()));
    words.addAll(scene.all("folders"));
    words.add("/");
    return words;
  }

  static List<String> with(String first, List<String> rest) {
    List<String> words = new ArrayList<>(List.of(first));
    words.addAll(rest);
    return words;
  }
}
