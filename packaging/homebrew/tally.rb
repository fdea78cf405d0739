# A formula for Homebrew on Linux. `url` and `sha256` become the release's once there is a server that has it; until then:
# make an archive by `git archive --prefix=tally-0.1.0/ -o tally-0.1.0.tar.gz HEAD` and say where it is.
class Tally < Formula
  desc "Exact histograms at the speed of memory"
  homepage "https://example.invalid/tally"
  url "https://example.invalid/tally-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "pkgconf" => :build
  depends_on "bzip2"
  depends_on "cairo"
  depends_on "isa-l"
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on :linux
  depends_on "lz4"
  depends_on "webp"
  depends_on "xz"
  depends_on "zlib"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DTALLY_TESTS=OFF", "-DTALLY_BENCH=OFF",
                    "-DTALLY_WITH_MPI=OFF", "-DTALLY_WITH_HDF5=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"numbers.txt").write "1\n2\n2\n"
    assert_match "3 samples", shell_output("#{bin}/tally numbers.txt --bins 2")
    system bin/"tally", "selftest", "--device", "cpu", "--seconds", "2"
  end
end
